import type { AwaitedStore, AwaitedWallet } from '../../../src/payments/reconcile/awaited.ts';
import type { MemoryLedger } from './memory-ledger.ts';

type Row = Pick<AwaitedWallet, 'fromBlock' | 'toBlock' | 'looks'> & { readonly nextMs: number };

/** What the database keeps of wallets whose credits wait, in memory; held to it by a contract test. */
export class MemoryAwaited implements AwaitedStore {
  readonly rows = new Map<number, Row>();
  readonly #ledger: MemoryLedger;
  readonly #walletOf: (agentId: number) => string;
  readonly #now: () => number;
  /** What an alarm has told of a wallet, by its agent. */
  toldRaw: (agentId: number) => bigint = () => 0n;

  constructor(ledger: MemoryLedger, walletOf: (agentId: number) => string, now: () => number) {
    this.#ledger = ledger;
    this.#walletOf = walletOf;
    this.#now = now;
  }

  async findBooks(agentIds: readonly number[]) {
    return new Map(
      agentIds.map((agentId) => {
        const told = this.toldRaw(agentId);
        const { walletRaw } = this.#ledger.require(agentId).state;
        const missingRaw = told < 0n ? -told : 0n;
        return [agentId, { walletRaw, missingRaw, isWaiting: this.rows.has(agentId) }];
      }),
    );
  }

  async add(waits: Parameters<AwaitedStore['add']>[0]): Promise<ReadonlySet<number>> {
    const news = new Set<number>();
    for (const { agentId, blockNumber } of waits) {
      const known = this.rows.get(agentId);
      const fromBlock = Math.min(known?.fromBlock ?? blockNumber, blockNumber);
      const toBlock = Math.max(known?.toBlock ?? blockNumber, blockNumber);
      if (known?.fromBlock === fromBlock && known.toBlock === toBlock) continue;
      this.rows.set(agentId, { fromBlock, toBlock, looks: 0, nextMs: this.#now() });
      news.add(agentId);
    }
    return news;
  }

  async findDue(limit: number): Promise<readonly AwaitedWallet[]> {
    return [...this.rows]
      .filter(([, { nextMs }]) => nextMs <= this.#now())
      .sort(([a, one], [b, other]) => one.nextMs - other.nextMs || a - b)
      .slice(0, limit)
      .map(([agentId, { nextMs: _, ...row }]) => ({
        agentId,
        wallet: this.#walletOf(agentId),
        ...row,
      }));
  }

  async close({ agentId, fromBlock, toBlock }: AwaitedWallet): Promise<void> {
    const known = this.rows.get(agentId);
    if (known?.fromBlock === fromBlock && known.toBlock === toBlock) this.rows.delete(agentId);
  }

  async postpone({ agentId }: AwaitedWallet, afterMs: number): Promise<void> {
    const known = this.rows.get(agentId);
    if (known === undefined) return;
    this.rows.set(agentId, { ...known, looks: known.looks + 1, nextMs: this.#now() + afterMs });
  }
}
