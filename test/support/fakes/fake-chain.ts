import { decodeFunctionData, encodeFunctionResult, multicall3Abi, parseAbi } from 'viem';
import { topicOf } from '../../../src/chain/abi.ts';
import { isAskedFor, type LogQuery } from '../../../src/chain/log-query.ts';
import { type Call, type Rpc, RpcUnavailable } from '../../../src/chain/rpc.ts';
import type { Block, ChainLog } from '../../../src/chain/rpc-answers.ts';
import { USDC_EVENTS } from '../../../src/chain/usdc.ts';
import { word } from './json-rpc-node.ts';

export const USDC = `0x${'11'.repeat(20)}`;
const ABI = parseAbi(['function authorizationState(address,bytes32) view returns (bool)']);

export type Authorized = { readonly wallet: string; readonly nonce: string };
export type Moved = { readonly to: string; readonly valueRaw: bigint };

type Told = Omit<ChainLog, 'blockNumber' | 'blockHash'>;
/** A block with what its transactions told and which authorizations they took away. */
type Mined = { readonly block: Block; readonly logs: Told[]; readonly spent: Set<string> };

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
  readonly #blocks: Mined[] = [];
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
    return hash;
  }

  /** The last blocks are replaced by as many empty ones of another branch. */
  reorganise(blocks: number): void {
    const [last] = this.#blocks.splice(this.#blocks.length - blocks);
    if (last === undefined) throw new Error('the chain is not that long');
    this.#branch++;
    for (let i = 0; i < blocks; i++) this.#append(last.block.timestampSec + 2 * i);
  }

  readonly rpc: Pick<Rpc, 'head' | 'block' | 'logs' | 'call'> = {
    head: async () => {
      await this.#ask('head');
      return this.#known().at(-1)?.block ?? this.head;
    },
    block: async (number) => {
      await this.#ask(`block ${number}`);
      return this.#known()[number]?.block;
    },
    logs: async (query) => {
      await this.#ask(`logs ${query.fromBlock}-${query.toBlock}`);
      this.queries.push(query);
      const { knowing } = query;
      if (knowing && this.#known()[knowing.number]?.block.hash !== knowing.hash) {
        throw new RpcUnavailable('the node does not know that block');
      }
      return this.#known()
        .flatMap(({ block, logs }) =>
          logs.map((log) => ({ ...log, blockNumber: block.number, blockHash: block.hash })),
        )
        .filter((log) => !this.hidden.has(log.txHash) && isAskedFor(query, log));
    },
    call: async ({ data }: Call, at) => {
      const place = () => this.#known().findIndex(({ block }) => block.hash === at?.hash);
      await this.#ask(`states at ${place()}`);
      const number = place();
      if (number < 0) throw new RpcUnavailable('header not found');
      const { args } = decodeFunctionData({ abi: multicall3Abi, data });
      const calls = (args as readonly [readonly { callData: `0x${string}` }[]])[0];
      const result = calls.map(({ callData }) => {
        const [wallet, nonce] = decodeFunctionData({ abi: ABI, data: callData }).args;
        const state = this.#stateOf({ wallet: wallet.toLowerCase(), nonce }, number);
        const returnData = (state === undefined ? '0x' : word(state ? 1 : 0)) as `0x${string}`;
        return { success: state !== undefined, returnData };
      });
      return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result });
    },
  };

  async #ask(question: string): Promise<void> {
    this.asked.push(question);
    await this.onAsk(question);
  }

  #known(): readonly Mined[] {
    return this.#blocks.filter(({ block }) => block.number <= this.lagsAt);
  }

  #stateOf(authorized: Authorized, at: number): boolean | undefined {
    if (this.states.has(authorized.nonce)) return this.states.get(authorized.nonce);
    return this.#blocks.slice(0, at + 1).some(({ spent }) => spent.has(keyOf(authorized)));
  }

  #latest(): Mined {
    const latest = this.#blocks.at(-1);
    if (latest === undefined) throw new Error('a chain has a first block');
    return latest;
  }

  #append(timestampSec: number): void {
    const number = this.#blocks.length;
    const hash = word(BigInt(number) + (BigInt(this.#branch + 1) << 200n));
    this.#blocks.push({ block: { number, hash, timestampSec }, logs: [], spent: new Set() });
  }

  #transaction(authorized?: Authorized): string {
    if (authorized !== undefined) this.#latest().spent.add(keyOf(authorized));
    return word(BigInt(++this.#transactions) + (1n << 220n));
  }

  #tell(txHash: string, topics: readonly string[], data = '0x'): void {
    const { logs } = this.#latest();
    logs.push({ address: USDC, topics, data, txHash, logIndex: logs.length });
  }
}

/** The same chain as everybody takes it. */
export const rpcOf = (chain: FakeChain): Rpc => chain.rpc as Rpc;
