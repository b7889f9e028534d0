import type { Rules } from '../../../src/ledger/admit.ts';
import type {
  BalanceState,
  Change,
  ChangeOutcome,
  Part,
  PartOutcome,
} from '../../../src/ledger/change.ts';
import type { Posting } from '../../../src/ledger/posting.ts';
import type { Balance, BalanceStore } from '../../../src/store/balance-store.ts';

export const ACTIVE: Rules = {
  status: 'active',
  operatorExpirySec: null,
  keyIds: new Set([1]),
};

type Session = { agentId: number; epoch: number; ended: string | null };

/** What the database keeps and what `apply_batch` does to it, in memory; held to it by a contract test. */
export class MemoryLedger implements BalanceStore {
  readonly balances = new Map<number, Balance>();
  readonly postings = new Map<string, { agentId: number; posting: Posting }>();
  readonly holds = new Map<string, { agentId: number; amountRaw: bigint }>();
  readonly sessions = new Map<string, Session>();
  readonly journal = new Map<string, bigint>();
  charges = 0;
  events = 0;

  addAgent(agentId: number, rules: Rules = ACTIVE): void {
    const zero = { spendableRaw: 0n, heldRaw: 0n, creditedRaw: 0n, consumedRaw: 0n };
    this.balances.set(agentId, { state: { version: 0n, rulesVersion: 0n, ...zero }, rules });
  }

  changeRules(agentId: number, change: Partial<Rules>): void {
    const { state, rules } = this.require(agentId);
    const version = state.version + 1n;
    const rulesVersion = state.rulesVersion + 1n;
    this.balances.set(agentId, {
      state: { ...state, version, rulesVersion },
      rules: { ...rules, ...change },
    });
  }

  require(agentId: number): Balance {
    const balance = this.balances.get(agentId);
    if (balance === undefined) throw new Error(`no agent ${agentId}`);
    return balance;
  }

  async load(agentId: number): Promise<Balance | undefined> {
    return this.balances.get(agentId);
  }

  async apply(parts: readonly Part[]): Promise<readonly PartOutcome[]> {
    return this.applyNow(parts);
  }

  async fenced(agentId: number, decide: (balance: Balance) => Part): Promise<PartOutcome> {
    const balance = this.balances.get(agentId);
    if (balance === undefined) return { kind: 'agent_unknown' };
    return this.applyNow([decide(balance)])[0] ?? { kind: 'agent_unknown' };
  }

  applyNow(parts: readonly Part[]): PartOutcome[] {
    const seen = new Set<string>();
    const verdicts = parts.map((part) =>
      part.changes.map((change) => this.#look(part.agentId, change, seen)),
    );
    return parts.map((part, p) => {
      const balance = this.balances.get(part.agentId);
      if (balance === undefined) return { kind: 'agent_unknown' };
      const outcomes = verdicts[p] ?? [];
      const stale = balance.state.version !== part.before.version;
      if (stale || outcomes.some((outcome) => outcome !== undefined)) {
        return {
          kind: 'declined',
          state: balance.state,
          stale,
          outcomes: outcomes.map((outcome) => outcome ?? { kind: 'again' }),
        };
      }
      const state = this.#write(part, balance);
      return { kind: 'applied', state };
    });
  }

  #look(agentId: number, change: Change, seen: Set<string>): ChangeOutcome | undefined {
    const { posting, guard, hold } = change;
    if (posting !== null) {
      const stands = this.postings.get(posting.id);
      const again = seen.has(posting.id);
      seen.add(posting.id);
      if (stands !== undefined) {
        return stands.agentId === agentId && isSame(stands.posting, posting)
          ? { kind: 'already', leftRaw: leftRaw(stands.posting) }
          : { kind: 'conflict' };
      }
      if (again) return { kind: 'again' };
    }
    if (guard !== null) {
      const session = this.sessions.get(guard.id);
      if (session?.epoch !== guard.epoch || session.agentId !== agentId) return { kind: 'lost' };
    }
    if (hold !== null && hold.fromRaw !== null) {
      const open = this.holds.get(hold.holdId);
      const openRaw = open?.agentId === agentId ? open.amountRaw : null;
      if (openRaw !== hold.fromRaw) return { kind: 'mismatch', openRaw };
    }
    return undefined;
  }

  #write(part: Part, balance: Balance): BalanceState {
    const written = part.changes.filter((change) => !change.probe);
    if (written.length === 0) return balance.state;
    let { spendableRaw, heldRaw, creditedRaw, consumedRaw } = balance.state;
    for (const change of written) {
      spendableRaw += change.delta.spendableRaw;
      heldRaw += change.delta.heldRaw;
      creditedRaw += change.delta.creditedRaw;
      consumedRaw += change.delta.consumedRaw;
      this.#writeRows(part.agentId, change);
    }
    if (spendableRaw < 0n || heldRaw < 0n) throw new Error('a balance went below zero');
    const version = balance.state.version + 1n;
    const { rulesVersion } = balance.state;
    const state = { version, rulesVersion, spendableRaw, heldRaw, creditedRaw, consumedRaw };
    this.balances.set(part.agentId, { state, rules: balance.rules });
    return state;
  }

  #writeRows(agentId: number, change: Change): void {
    const { posting, hold } = change;
    if (posting !== null) {
      if (this.postings.has(posting.id)) throw new Error(`${posting.id} was written twice`);
      this.postings.set(posting.id, { agentId, posting });
    }
    if (hold !== null && hold.toRaw === null) this.holds.delete(hold.holdId);
    else if (hold !== null && hold.toRaw !== null) {
      this.holds.set(hold.holdId, { agentId, amountRaw: hold.toRaw });
    }
    for (const companion of change.companions) {
      if (companion.row === 'charge') this.charges++;
      if (companion.row === 'event') this.events++;
      if (companion.row === 'session.opened') {
        this.sessions.set(companion.session.sessionId, { agentId, epoch: 1, ended: null });
      }
      if (companion.row === 'session.ended') {
        const session = this.sessions.get(companion.sessionId);
        if (session !== undefined) session.ended = companion.reason;
      }
      if (companion.row === 'journal') {
        this.journal.set(`${companion.sessionId}/${companion.entry.seq}`, companion.entry.costRaw);
      }
    }
  }

  /** Invariants 1 to 4, as sentences about what is wrong. */
  violations(): string[] {
    const found: string[] = [];
    const sums = new Map<string, bigint>();
    const add = (account: string, by: bigint) => sums.set(account, (sums.get(account) ?? 0n) + by);
    for (const { posting } of this.postings.values()) {
      for (const entry of posting.entries) {
        if (entry.amountRaw <= 0n) found.push(`${posting.id} moves nothing`);
        add(entry.debit, -entry.amountRaw);
        add(entry.credit, entry.amountRaw);
      }
    }
    for (const [agentId, { state }] of this.balances) {
      const { spendableRaw, heldRaw, creditedRaw, consumedRaw } = state;
      const says = (account: string) => sums.get(`agent:${agentId}:${account}`) ?? 0n;
      if (says('spendable') !== spendableRaw) found.push(`${agentId}: spendable is not derived`);
      if (says('held') !== heldRaw) found.push(`${agentId}: held is not derived`);
      if (creditedRaw !== spendableRaw + heldRaw + consumedRaw)
        found.push(`${agentId}: unbalanced`);
      if (spendableRaw < 0n || heldRaw < 0n) found.push(`${agentId}: below zero`);
      let openRaw = 0n;
      for (const hold of this.holds.values())
        if (hold.agentId === agentId) openRaw += hold.amountRaw;
      if (openRaw !== heldRaw) found.push(`${agentId}: held ${heldRaw}, open holds ${openRaw}`);
    }
    let total = 0n;
    for (const sum of sums.values()) total += sum;
    if (total !== 0n) found.push('debits are not credits');
    for (const holdId of this.holds.keys()) {
      if (this.postings.has(`resolve:${holdId}`)) found.push(`${holdId} is resolved, yet open`);
    }
    return found;
  }
}

const isSame = (a: Posting, b: Posting): boolean => {
  const [left, right] = [a.entries[0]?.credit, b.entries[0]?.credit];
  const account = left === undefined || right === undefined || left === right;
  return a.code === b.code && a.askedRaw === b.askedRaw && account;
};

const leftRaw = (posting: Posting): bigint =>
  posting.entries
    .filter((e) => e.debit.startsWith('agent:') && !e.credit.startsWith('agent:'))
    .reduce((sum, e) => sum + e.amountRaw, 0n);
