import type {
  AuditState,
  AuditStore,
  BookedWallet,
  Difference,
} from '../../../src/payments/reconcile/wallet-audit.ts';
import type { MemoryLedger } from './memory-ledger.ts';

type Row = Pick<
  Difference,
  'differenceRaw' | 'floorBlock' | 'searchedFrom' | 'looks' | 'passes' | 'toldRaw'
> & { readonly nextMs: number };

/** What the database keeps of the second look at wallets, in memory; held to it by a contract test. */
export class MemoryAudits implements AuditStore {
  readonly #ledger: MemoryLedger;
  readonly #wallets: ReadonlyMap<number, string>;
  readonly #now: () => number;
  #state: Omit<AuditState, 'isDue'> | undefined;
  #dueMs = 0;
  readonly differences = new Map<number, Row>();

  /** Wallets by their agents. */
  constructor(ledger: MemoryLedger, wallets: ReadonlyMap<number, string>, now: () => number) {
    this.#ledger = ledger;
    this.#wallets = wallets;
    this.#now = now;
  }

  async findState(): Promise<AuditState | undefined> {
    return this.#state && { ...this.#state, isDue: this.#dueMs <= this.#now() };
  }

  async saveRound(...[from, to, restMs]: Parameters<AuditStore['saveRound']>): Promise<void> {
    const isSame = JSON.stringify(from?.round) === JSON.stringify(this.#state?.round);
    if (!isSame) return;
    const isTakenUp =
      from?.round.afterAgentId === null && from.rereadFrom === this.#state?.rereadFrom;
    const rereadFrom = isTakenUp ? null : (this.#state?.rereadFrom ?? null);
    this.#state = { round: to, rereadFrom };
    this.#dueMs = this.#now() + restMs;
  }

  async rewind(fromBlock: number): Promise<void> {
    if (this.#state === undefined) return;
    const rereadFrom = Math.min(this.#state.rereadFrom ?? fromBlock, fromBlock);
    this.#state = { ...this.#state, rereadFrom };
  }

  async findWallets(afterAgentId: number, limit: number): Promise<readonly BookedWallet[]> {
    return [...this.#wallets.keys()]
      .filter((agentId) => agentId > afterAgentId)
      .sort((a, b) => a - b)
      .slice(0, limit)
      .map((agentId) => this.#booked(agentId));
  }

  async findUntaken(nonces: readonly string[]): Promise<ReadonlySet<string>> {
    const { reservations, payouts, postings } = this.#ledger;
    const isTaken = (nonce: string) => {
      if (payouts.get(nonce)?.state === 'done') return true;
      const row = reservations.get(nonce);
      if (row?.corrected) return true;
      return row?.state === 'settled' && !postings.has(`credit:vanished:${nonce}`);
    };
    return new Set(nonces.filter((nonce) => !isTaken(nonce)));
  }

  async openDifferences(differences: Parameters<AuditStore['openDifferences']>[0]): Promise<void> {
    for (const { agentId, differenceRaw, floorBlock } of differences) {
      const known = this.differences.get(agentId);
      if (known?.differenceRaw === differenceRaw) continue;
      const { looks = 0, passes = 0, toldRaw = null } = known ?? {};
      this.differences.set(agentId, {
        differenceRaw,
        floorBlock: known?.floorBlock ?? floorBlock,
        searchedFrom: null,
        looks,
        passes,
        toldRaw,
        nextMs: this.#now(),
      });
    }
  }

  async closeDifferences(agentIds: readonly number[]): Promise<void> {
    for (const agentId of agentIds) this.differences.delete(agentId);
  }

  async findDifferences(limit: number): Promise<readonly Difference[]> {
    return [...this.differences]
      .filter(([, { nextMs }]) => nextMs <= this.#now())
      .sort(([a, one], [b, other]) => one.nextMs - other.nextMs || a - b)
      .slice(0, limit)
      .map(([agentId, { nextMs: _, ...row }]) => ({ ...this.#booked(agentId), ...row }));
  }

  async saveLooks(looks: Parameters<AuditStore['saveLooks']>[0]): Promise<void> {
    for (const { agentId, afterMs, ...look } of looks) {
      const known = this.differences.get(agentId);
      if (known === undefined) continue;
      this.differences.set(agentId, { ...known, ...look, nextMs: this.#now() + afterMs });
    }
  }

  async countTold(): Promise<number> {
    return [...this.differences.values()].filter(({ toldRaw }) => toldRaw !== null).length;
  }

  #booked(agentId: number): BookedWallet {
    const { walletRaw } = this.#ledger.require(agentId).state;
    return { agentId, wallet: this.#wallets.get(agentId) ?? '', walletRaw, createdMs: 0 };
  }
}
