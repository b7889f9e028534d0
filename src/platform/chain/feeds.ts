import { signed, wordOf, wordsOf } from './abi.ts';
import { askAll, askEach, askOne, type ContractCall } from './multicall.ts';
import type { CallRpc } from './rpc.ts';
import type { Block } from './rpc-answers.ts';

/** Addresses of contracts that implement AggregatorV3's `latestRoundData()`. */
export type Feeds = {
  /** Contract with the price of ether in dollars. */
  readonly price: string;
  /** Uptime of the sequencer, which orders this chain's transactions. The contract answers 0 while the sequencer is up. */
  readonly sequencer: string;
};

export type Round = {
  readonly roundId: bigint;
  readonly answer: bigint;
  readonly startedAtSec: number;
  readonly updatedAtSec: number;
};

export type FeedReading = {
  readonly price: Round;
  /** Answer of the round before; undefined when the latest round is the first of its contract. */
  readonly previousAnswer: bigint | undefined;
  readonly decimals: number;
  readonly sequencer: Round;
};

const LATEST_ROUND_DATA = '0xfeaf968c';
const GET_ROUND_DATA = '0x9a6fc8f5';
const DECIMALS = '0x313ce567';
const MAX_DECIMALS = 36n;
const ROUND_ID_BITS = 80;
/**
 * Bits of a round's id that hold the number of the round, counted from 1. The bits above them name the contract behind the
 * feed.
 */
const OWN_ROUND_BITS = 64;
const MAX_SECONDS = 2n ** 40n;

/** Reads both feeds at one block. Returns the name of a feed that cannot be read. */
export async function readFeeds(
  rpc: CallRpc,
  feeds: Feeds,
  at: Pick<Block, 'hash'>,
  last: FeedReading | undefined,
): Promise<FeedReading | 'price' | 'sequencer'> {
  const questions: ContractCall[] = [
    { to: feeds.price, data: LATEST_ROUND_DATA },
    { to: feeds.price, data: DECIMALS },
    { to: feeds.sequencer, data: LATEST_ROUND_DATA },
  ];
  const together = await askAll(rpc, questions, at);
  const answers = together === 'absent' ? await askEach(rpc, questions, at) : together;
  const price = decodeRound(answers[0]);
  const [decimals = MAX_DECIMALS + 1n] = wordsOf(answers[1] ?? '0x') ?? [];
  const sequencer = decodeRound(answers[2]);
  if (sequencer === undefined) return 'sequencer';
  if (price === undefined || decimals > MAX_DECIMALS) return 'price';
  const reading = { price, decimals: Number(decimals), sequencer };
  // A round no longer changes once another round follows it.
  if (last?.price.roundId === price.roundId) {
    return { ...reading, previousAnswer: last.previousAnswer };
  }
  if (BigInt.asUintN(OWN_ROUND_BITS, price.roundId) <= 1n) {
    return { ...reading, previousAnswer: undefined };
  }
  const data = `${GET_ROUND_DATA}${wordOf(price.roundId - 1n)}` as const;
  const previous = decodeRound(await askOne(rpc, { to: feeds.price, data }, at));
  return previous === undefined ? 'price' : { ...reading, previousAnswer: previous.answer };
}

/**
 * Returns the round in an answer. Undefined when the words are no round, or a round without an answer.
 *
 * @internal Tests go through answers that are no round.
 */
export function decodeRound(answer: string | undefined): Round | undefined {
  const words = wordsOf(answer ?? '0x') ?? [];
  const [roundId, value, startedAt, updatedAt] = words;
  if (words.length !== 5 || roundId === undefined || value === undefined) return undefined;
  if (startedAt === undefined || updatedAt === undefined) return undefined;
  if (roundId >> BigInt(ROUND_ID_BITS) !== 0n || updatedAt === 0n || startedAt === 0n) return;
  if (startedAt > MAX_SECONDS || updatedAt > MAX_SECONDS) return undefined;
  return {
    roundId,
    answer: signed(value),
    startedAtSec: Number(startedAt),
    updatedAtSec: Number(updatedAt),
  };
}
