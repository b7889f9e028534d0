import {
  decodeFunctionData,
  encodeFunctionResult,
  multicall3Abi,
  parseAbi,
  toEventSelector,
} from 'viem';
import { topicOf } from '../../../src/platform/chain/abi.ts';
import { isAskedFor, type LogQuery } from '../../../src/platform/chain/log-query.ts';
import { type EthCall, type Rpc, RpcUnavailable } from '../../../src/platform/chain/rpc.ts';
import type { Block, ChainLog } from '../../../src/platform/chain/rpc-answers.ts';
import { word } from './json-rpc-node.ts';

/** First topics of the logs of the token's events. */
export const USDC_EVENTS = {
  used: toEventSelector('AuthorizationUsed(address,bytes32)'),
  canceled: toEventSelector('AuthorizationCanceled(address,bytes32)'),
  transfer: toEventSelector('Transfer(address,address,uint256)'),
};
export const USDC = `0x${'11'.repeat(20)}`;
const ABI = parseAbi([
  'function authorizationState(address,bytes32) view returns (bool)',
  'function balanceOf(address) view returns (uint256)',
]);

export type Authorized = { readonly wallet: string; readonly nonce: string };
export type Moved = { readonly to: string; readonly valueRaw: bigint };

/** What a node says that is not so; its blocks are the true ones where it is not said otherwise. */
export type Lie =
  /** Answers every question for logs with none. */
  | { readonly kind: 'no-logs' }
  /** Tells no log of the newest blocks, and does not say that it lacks them. */
  | { readonly kind: 'late-logs'; readonly by: number }
  /** Tells balances as they were so many blocks ago. */
  | { readonly kind: 'late-balances'; readonly by: number }
  /** Leaves logs out. */
  | { readonly kind: 'lost-logs'; readonly isLost: (log: ChainLog) => boolean }
  /** Nothing has happened since this block, by its logs, its states and the headers of its blocks. */
  | { readonly kind: 'blind'; readonly since: number }
  /** The same, on a branch of its own. */
  | { readonly kind: 'forked'; readonly since: number }
  /** There are so many more blocks than there are, and nothing is in them. */
  | { readonly kind: 'ahead'; readonly by: number };

type Told = Omit<ChainLog, 'blockNumber' | 'blockHash'>;
/** A block with what its transactions told. */
type Mined = { readonly block: Block; readonly logs: Told[] };
type Move = { readonly number: number; readonly byRaw: bigint };

const FULL_BLOOM = `0x${'ff'.repeat(256)}`;
const EMPTY_BLOOM = `0x${'00'.repeat(256)}`;

const isSameLog = (one: ChainLog, other: Pick<ChainLog, 'blockHash' | 'logIndex'>): boolean =>
  one.blockHash === other.blockHash && one.logIndex === other.logIndex;

const keyOf = ({ wallet, nonce }: Authorized) => `${wallet}/${nonce}`;

/**
 * A chain with one token, in memory: blocks of two seconds, the logs of what was mined in them, and the state of
 * authorizations as of each. What is done to it stands in the latest block.
 */
export class FakeChain {
  /** What was asked, in order; a test may look at what came before what. */
  readonly asked: string[] = [];
  readonly queries: LogQuery[] = [];
  /** Fails a question, or holds it up. */
  onAsk: (question: string) => Promise<void> | undefined = () => undefined;
  /** What the token's storage says in spite of everything, by nonce; undefined is no answer at all. */
  readonly states = new Map<string, boolean | undefined>();
  /** The node lacks the logs of these transactions. */
  readonly hidden = new Set<string>();
  /** The node knows no block above this one. */
  lagsAt = Number.POSITIVE_INFINITY;
  lie: Lie | undefined;
  readonly #blocks: Mined[] = [];
  /** In which block each authorization was taken away, and what moved in and out of wallets. */
  readonly #spentAt = new Map<string, number>();
  readonly #moves = new Map<string, Move[]>();
  #invented: { readonly number: number; readonly blocks: readonly Mined[] } | undefined;
  #branch = 0;
  #transactions = 0;

  constructor(startSec: number, blocks = 1) {
    this.#append(startSec);
    this.mine(blocks - 1);
  }

  get head(): Block {
    return this.#latest().block;
  }

  mine(blocks = 1, secondsPerBlock = 2): Block {
    for (let i = 0; i < blocks; i++) this.#append(this.head.timestampSec + secondsPerBlock);
    return this.head;
  }

  /** An authorization is carried out; what it moved stands right behind it. Answers the transaction. */
  use(authorized: Authorized, moved: Moved | undefined): string {
    const txHash = this.#transaction(authorized);
    const { wallet, nonce } = authorized;
    this.#tell(txHash, [USDC_EVENTS.used, topicOf(wallet), nonce]);
    if (moved !== undefined) this.transfer({ from: wallet, ...moved, txHash });
    return txHash;
  }

  cancel(authorized: Authorized): string {
    const txHash = this.#transaction(authorized);
    this.#tell(txHash, [USDC_EVENTS.canceled, topicOf(authorized.wallet), authorized.nonce]);
    return txHash;
  }

  transfer({ from, to, valueRaw, txHash }: Moved & { from: string; txHash?: string }): string {
    const hash = txHash ?? this.#transaction();
    const topics = [USDC_EVENTS.transfer, topicOf(from), topicOf(to)];
    this.#tell(hash, topics, word(valueRaw));
    this.#move(from, -valueRaw);
    this.#move(to, valueRaw);
    return hash;
  }

  #move(wallet: string, byRaw: bigint): void {
    const moves = this.#moves.get(wallet) ?? [];
    moves.push({ number: this.head.number, byRaw });
    this.#moves.set(wallet, moves);
  }

  /** The last blocks are replaced by as many empty ones of another branch. */
  reorganise(blocks: number): void {
    const [last] = this.#blocks.splice(this.#blocks.length - blocks);
    if (last === undefined) throw new Error('the chain is not that long');
    const { number: first } = last.block;
    for (const [key, at] of this.#spentAt) if (at >= first) this.#spentAt.delete(key);
    for (const [wallet, moves] of this.#moves) {
      this.#moves.set(
        wallet,
        moves.filter(({ number }) => number < first),
      );
    }
    this.#branch++;
    for (let i = 0; i < blocks; i++) this.#append(last.block.timestampSec + 2 * i);
  }

  readonly rpc: Pick<Rpc, 'head' | 'block' | 'logs' | 'call'> = {
    head: async () => {
      await this.#ask('head');
      return this.#told(this.#known().at(-1) ?? this.#latest());
    },
    block: async (number) => {
      await this.#ask(`block ${number}`);
      const mined = this.#known()[number];
      return mined && this.#told(mined);
    },
    logs: async (query) => {
      await this.#ask(`logs ${query.fromBlock}-${query.toBlock}`);
      this.queries.push(query);
      const { knowing, witness } = query;
      const known = knowing && this.#known()[knowing.number];
      if (knowing && (known === undefined || this.#told(known).hash !== knowing.hash)) {
        throw new RpcUnavailable('the node does not know that block');
      }
      if (witness !== undefined) {
        const told = this.#logs(witness.blockNumber, witness.blockNumber);
        if (!told.some((log) => isSameLog(log, witness))) {
          throw new RpcUnavailable('the node does not tell a log that it told before');
        }
      }
      return this.#logs(query.fromBlock, query.toBlock).filter(
        (log) => !this.hidden.has(log.txHash) && isAskedFor(query, log),
      );
    },
    call: async ({ data }: EthCall, at) => {
      // From the newest on: it is asked about those.
      const place = () =>
        this.#known().findLastIndex((mined) => this.#told(mined).hash === at?.hash);
      await this.#ask(`states at ${place()}`);
      const number = place();
      if (number < 0) throw new RpcUnavailable('header not found');
      const { args } = decodeFunctionData({ abi: multicall3Abi, data });
      const calls = (args as readonly [readonly { callData: `0x${string}` }[]])[0];
      const seen = Math.min(number, this.#blindSince());
      const result = calls.map(({ callData }) => this.#answer(callData, seen));
      return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result });
    },
  };

  /** The node tells of a transfer that there never was, by its log alone, until `hidden` has it. */
  invent(transfer: Moved & { from: string }): string {
    const txHash = this.transfer(transfer);
    this.#move(transfer.from, transfer.valueRaw);
    this.#move(transfer.to, -transfer.valueRaw);
    return txHash;
  }

  /** A wallet holds more, and no log says why: it came before the first block. */
  deal(wallet: string, valueRaw: bigint): void {
    this.#move(wallet, valueRaw);
  }

  /** Whether an authorization was really carried out. */
  isUsed(authorized: Authorized): boolean {
    return this.#spentAt.has(keyOf(authorized));
  }

  /** What a wallet really holds. */
  balanceOf(wallet: string, at = this.head.number): bigint {
    let raw = 0n;
    for (const { number, byRaw } of this.#moves.get(wallet) ?? []) if (number <= at) raw += byRaw;
    return raw;
  }

  #answer(callData: `0x${string}`, at: number) {
    const { functionName, args } = decodeFunctionData({ abi: ABI, data: callData });
    if (functionName === 'balanceOf') {
      const { lie } = this;
      const seen = lie?.kind === 'late-balances' ? at - lie.by : at;
      const balance = this.balanceOf(args[0].toLowerCase(), seen);
      return { success: true, returnData: word(BigInt.asUintN(256, balance)) as `0x${string}` };
    }
    const state = this.#stateOf({ wallet: args[0].toLowerCase(), nonce: args[1] }, at);
    const returnData = (state === undefined ? '0x' : word(state ? 1 : 0)) as `0x${string}`;
    return { success: state !== undefined, returnData };
  }

  /** All logs that the node tells of some blocks. */
  #logs(fromBlock: number, toBlock: number): ChainLog[] {
    const { lie } = this;
    if (lie?.kind === 'no-logs') return [];
    const newest = this.#known().at(-1)?.block.number ?? 0;
    const last = lie?.kind === 'late-logs' ? newest - lie.by : this.#blindSince();
    const logs = this.#known()
      .slice(fromBlock, toBlock + 1)
      .flatMap(({ block, logs: told }) =>
        block.number > last
          ? []
          : told.map((log) => ({ ...log, blockNumber: block.number, blockHash: block.hash })),
      );
    return lie?.kind === 'lost-logs' ? logs.filter((log) => !lie.isLost(log)) : logs;
  }

  /** The last block whose contents the node does not deny. */
  #blindSince(): number {
    const { lie } = this;
    const denies = lie?.kind === 'blind' || lie?.kind === 'forked';
    return denies ? lie.since : Number.POSITIVE_INFINITY;
  }

  #told({ block, logs }: Mined): Block {
    const isDenied = block.number > this.#blindSince();
    const isOther = isDenied && this.lie?.kind === 'forked';
    return {
      ...block,
      ...(isOther && { hash: word(BigInt(block.hash) + (1n << 240n)) }),
      logsBloom: logs.length > 0 && !isDenied ? FULL_BLOOM : EMPTY_BLOOM,
    };
  }

  async #ask(question: string): Promise<void> {
    this.asked.push(question);
    await this.onAsk(question);
  }

  #known(): readonly Mined[] {
    if (this.lie?.kind === 'ahead') return this.#longer(this.lie.by);
    return this.lagsAt < this.head.number ? this.#blocks.slice(0, this.lagsAt + 1) : this.#blocks;
  }

  /** The chain with blocks that follow its last one, made once for each of its lengths. */
  #longer(by: number): readonly Mined[] {
    const { number, timestampSec } = this.head;
    if (this.#invented?.number === number) return this.#invented.blocks;
    const more = Array.from({ length: by }, (_, i): Mined => {
      const hash = word(BigInt(number + 1 + i) + (1n << 241n));
      const block = { number: number + 1 + i, hash, timestampSec: timestampSec + i };
      return { block, logs: [] };
    });
    const blocks = [...this.#blocks, ...more];
    this.#invented = { number, blocks };
    return blocks;
  }

  #stateOf(authorized: Authorized, at: number): boolean | undefined {
    if (this.states.has(authorized.nonce)) return this.states.get(authorized.nonce);
    return (this.#spentAt.get(keyOf(authorized)) ?? Number.POSITIVE_INFINITY) <= at;
  }

  #latest(): Mined {
    const latest = this.#blocks.at(-1);
    if (latest === undefined) throw new Error('a chain has a first block');
    return latest;
  }

  #append(timestampSec: number): void {
    const number = this.#blocks.length;
    const hash = word(BigInt(number) + (BigInt(this.#branch + 1) << 200n));
    this.#blocks.push({ block: { number, hash, timestampSec }, logs: [] });
  }

  #transaction(authorized?: Authorized): string {
    if (authorized !== undefined) this.#spentAt.set(keyOf(authorized), this.head.number);
    return word(BigInt(++this.#transactions) + (1n << 220n));
  }

  #tell(txHash: string, topics: readonly string[], data = '0x'): void {
    const { logs } = this.#latest();
    logs.push({ address: USDC, topics, data, txHash, logIndex: logs.length });
  }
}

/** The same chain as everybody takes it. */
export const rpcOf = (chain: FakeChain): Rpc => chain.rpc as Rpc;
