import { type Address, type Hex, numberToHex, toFunctionSelector } from 'viem';

/** Where the local chain answers for the price of ether, and for whether its sequencer is up. */
export const PRICE_FEED: Address = '0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70';
export const SEQUENCER_FEED: Address = '0xBCF85224fc0756B9Fa45aA7892530B47e10b6433';

export type Round = {
  readonly roundId: bigint;
  readonly answer: bigint;
  readonly startedAt: bigint;
  readonly updatedAt: bigint;
};

const LATEST_SLOT = 0;
const PREVIOUS_SLOT = 5;
const DECIMALS_SLOT = 10;
const WORDS = 5;

const byte = (value: number) => value.toString(16).padStart(2, '0');
const push = (value: number) => `60${byte(value)}`;

/** Returns `count` storage slots from `first` on, one word each. */
function answerSlots(first: number, count: number): string {
  const words = Array.from({ length: count }, (_, i) => `${push(first + i)}54${push(32 * i)}52`);
  return `5b${words.join('')}${push(32 * count)}${push(0)}f3`;
}

/** Reverts unless the round that is asked for is the one that the slots hold. */
function answerRound(first: number, at: number): string {
  const check = `5b${push(4)}35${push(first)}5414`;
  const refuse = `${push(0)}80fd`;
  const good = at + (check.length + `${push(0)}57`.length + refuse.length) / 2;
  return `${check}${push(good)}57${refuse}${answerSlots(first, WORDS)}`;
}

/** A feed of Chainlink's shape that answers what its storage holds. */
export function feedCode(): Hex {
  const selectors = ['latestRoundData()', 'getRoundData(uint80)', 'decimals()'].map((name) =>
    toFunctionSelector(name).slice(2),
  );
  const head = `${push(0)}35${push(0xe0)}1c`;
  const branch = (selector: string, to: number) => `8063${selector}14${push(to)}57`;
  const none = `${push(0)}80fd`;
  const length = (code: string) => code.length / 2;
  const latestAt = length(head) + selectors.length * length(branch('00000000', 0)) + length(none);
  const latest = answerSlots(LATEST_SLOT, WORDS);
  const roundAt = latestAt + length(latest);
  const round = answerRound(PREVIOUS_SLOT, roundAt);
  const decimals = answerSlots(DECIMALS_SLOT, 1);
  const targets = [latestAt, roundAt, roundAt + length(round)];
  const branches = selectors.map((selector, i) => branch(selector, targets[i] as number));
  return `0x${head}${branches.join('')}${none}${latest}${round}${decimals}`;
}

/** The storage of a feed whose latest round and the one before are these: slot and word. */
export function feedSlots(latest: Round, previous: Round, decimals: number): [Hex, Hex][] {
  const words = (round: Round) => [
    round.roundId,
    round.answer,
    round.startedAt,
    round.updatedAt,
    round.roundId,
  ];
  const all = [...words(latest), ...words(previous), BigInt(decimals)];
  return all.map((word, slot) => [
    numberToHex(slot),
    numberToHex(BigInt.asUintN(256, word), { size: 32 }),
  ]);
}
