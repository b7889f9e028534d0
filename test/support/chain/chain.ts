import { type Address, type Hex, hexToNumber, numberToHex } from 'viem';
import { type HDAccount, mnemonicToAccount } from 'viem/accounts';
import { type AnvilOptions, startAnvil } from './anvil.ts';
import { feedSlots, PRICE_FEED, type Round, SEQUENCER_FEED } from './feeds.ts';
import { installedState } from './install.ts';
import { type JsonRpc, jsonRpc } from './json-rpc.ts';
import { createSenders, type Senders, type TxRequest } from './senders.ts';
import { createUsdc, type Usdc } from './usdc.ts';

export type Block = { readonly number: number; readonly hash: Hex; readonly timestamp: number };

export type Chain = AsyncDisposable &
  Usdc &
  Senders & {
    readonly url: string;
    /** For whatever has no name here. */
    readonly node: JsonRpc;
    /** Ends the chain as an outage would: the port refuses from then on. */
    stop(): Promise<void>;

    head(): Promise<Block>;
    mine(blocks?: number): Promise<void>;
    /** Puts so many seconds between the head and the block that it mines. */
    travel(seconds: number): Promise<void>;
    /** The time of the next block, in seconds. */
    setNextTimestamp(seconds: number): Promise<void>;
    /** Held back, transactions wait for `mine`. */
    setAutomine(on: boolean): Promise<void>;
    snapshot(): Promise<Hex>;
    revert(snapshot: Hex): Promise<void>;
    /** Replaces the last blocks by as many others, which hold only what is named. */
    reorg(depth: number, replacements?: readonly Replacement[]): Promise<void>;

    /** Publishes a new price now (8 decimals); what was latest becomes the round before. */
    setPrice(answer: bigint, at?: FeedTimes): Promise<void>;
    /** Says since when the sequencer is up or down; up long ago without a time, down just now. */
    setSequencer(up: boolean, at?: FeedTimes): Promise<void>;
  };

/** A transaction, and in which of the new blocks it stands (0 is the first). */
export type Replacement = { readonly request: TxRequest; readonly block: number };

export type FeedTimes = { readonly startedAt?: number; readonly updatedAt?: number };

const MNEMONIC = 'test test test test test test test test test test test junk';

const accounts = new Map<number, HDAccount>();

/** One of the 20 funded accounts of the local chain, with its key. */
export function account(index: number): HDAccount {
  const known = accounts.get(index) ?? mnemonicToAccount(MNEMONIC, { addressIndex: index });
  accounts.set(index, known);
  return known;
}

/** Holds all the USDC that there is, and may mint more. */
const BANK = 0;
/** Pays the gas of what `submit` and `cancel` send. */
const RELAY = 1;

const ETHER_PRICE = 3_000_00000000n;
const PRICE_DECIMALS = 8;
const LONG_AGO_SEC = 7 * 86_400;

/** Base as far as paid calls need it, in a process of its own. */
export async function startChain(options: AnvilOptions = {}): Promise<Chain> {
  const bank = account(BANK).address;
  const [state, anvil] = await Promise.all([installedState(bank), startAnvil(options)]);
  const node = jsonRpc(anvil.url);
  await node.ask('anvil_loadState', state);
  // The head that was loaded is as old as the state; the next block has this chain's own time.
  await node.ask('evm_mine');
  const blocks = createBlocks(node);
  const senders = createSenders(node, blocks.areMade);
  const usdc = createUsdc(node, senders, { bank, relay: account(RELAY).address });
  const feeds = createFeeds(node, blocks.head);
  await Promise.all([feeds.setPrice(ETHER_PRICE), feeds.setSequencer(true)]);
  const { areMade: _, ...named } = blocks;
  return {
    url: anvil.url,
    node,
    stop: anvil.stop,
    ...named,
    ...usdc,
    ...feeds,
    ...senders,
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]();
      await anvil.stop();
    },
  };
}

function createBlocks(node: JsonRpc) {
  let made = true;
  const head = async (): Promise<Block> => {
    const block = await node.ask<{ number: Hex; hash: Hex; timestamp: Hex }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    );
    const { hash, number, timestamp } = block;
    return { hash, number: hexToNumber(number), timestamp: hexToNumber(timestamp) };
  };
  const mine = async (blocks = 1) => {
    await node.ask('anvil_mine', numberToHex(blocks));
  };
  return {
    areMade: () => made,
    head,
    mine,
    async travel(seconds: number) {
      await node.ask('evm_setNextBlockTimestamp', (await head()).timestamp + seconds);
      await mine();
    },
    async setNextTimestamp(seconds: number) {
      await node.ask('evm_setNextBlockTimestamp', seconds);
    },
    async setAutomine(on: boolean) {
      await node.ask('evm_setAutomine', on);
      made = on;
    },
    snapshot: () => node.ask<Hex>('evm_snapshot'),
    async revert(snapshot: Hex) {
      if (!(await node.ask<boolean>('evm_revert', snapshot))) throw new Error('no such snapshot');
    },
    async reorg(depth: number, replacements: readonly Replacement[] = []) {
      const pairs = replacements.map(({ request, block }) => [request, block]);
      await node.ask('anvil_reorg', depth, pairs);
    },
  };
}

function createFeeds(node: JsonRpc, head: () => Promise<Block>) {
  const last = new Map<Address, Round>();
  const publish = async (feed: Address, answer: bigint, decimals: number, at: FeedTimes) => {
    const { timestamp } = await head();
    const previous = last.get(feed) ?? {
      roundId: 1n,
      answer,
      startedAt: BigInt(timestamp - LONG_AGO_SEC),
      updatedAt: BigInt(timestamp - LONG_AGO_SEC),
    };
    const latest: Round = {
      roundId: previous.roundId + 1n,
      answer,
      startedAt: BigInt(at.startedAt ?? timestamp),
      updatedAt: BigInt(at.updatedAt ?? timestamp),
    };
    last.set(feed, latest);
    await Promise.all(
      feedSlots(latest, previous, decimals).map(([slot, word]) =>
        node.ask('anvil_setStorageAt', feed, slot, word),
      ),
    );
  };
  return {
    setPrice: (answer: bigint, at: FeedTimes = {}) =>
      publish(PRICE_FEED, answer, PRICE_DECIMALS, at),
    async setSequencer(up: boolean, at: FeedTimes = {}) {
      const startedAt = (await head()).timestamp - (up ? LONG_AGO_SEC : 0);
      await publish(SEQUENCER_FEED, up ? 0n : 1n, 0, { startedAt, ...at });
    },
  };
}
