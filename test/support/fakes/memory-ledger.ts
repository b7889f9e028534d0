import type {
  AgentBatch,
  AgentBatchOutcome,
  Change,
  ChangeOutcome,
} from '../../../src/ledger/rules/change.ts';
import type { Count } from '../../../src/ledger/rules/count.ts';
import type { Posting } from '../../../src/ledger/rules/posting.ts';
import type { Rules } from '../../../src/ledger/rules/rules.ts';
import type { Balance, BalanceStore } from '../../../src/ledger/store/balances.ts';
import { decodeCounters, encodeCounters } from '../../../src/ledger/store/counter-codec.ts';
import { type Counter, count, rollTo, spentRaw } from '../../../src/policy/counter.ts';
import type { SpendFacts } from '../../../src/policy/policy.ts';
import {
  type PaymentRow,
  type PayoutRow,
  paymentViolations,
  writePayment,
} from './memory-payments.ts';

export const ACTIVE: Rules = {
  status: 'active',
  accountId: 'acct_1',
  walletAddress: '0x01',
  operatorExpirySec: null,
  keyIds: new Set([1]),
  allowlistMode: 'off',
  policies: [],
  teamPolicies: [],
  quality: new Map(),
  thresholds: [],
};

type Session = { agentId: number; epoch: number; ended: string | null };

/** What the database keeps and what `apply_batch` does to it, in memory; held to it by a contract test. */
export class MemoryLedger implements BalanceStore {
  readonly balances = new Map<number, Balance>();
  readonly postings = new Map<string, { agentId: number; posting: Posting }>();
  readonly holds = new Map<string, { agentId: number; amountRaw: bigint; facts: SpendFacts }>();
  /** What counts under the policies of teams, by policy. */
  readonly teamCounters = new Map<number, Counter>();
  readonly sessions = new Map<string, Session>();
  readonly journal = new Map<string, bigint>();
  readonly reservations = new Map<string, PaymentRow>();
  readonly payouts = new Map<string, PayoutRow>();
  /** On which side of each threshold its agent was seen last. */
  readonly thresholds = new Map<number, 'above' | 'below'>();
  charges = 0;
  events = 0;

  addAgent(agentId: number, rules: Rules = ACTIVE): void {
    const zero = {
      spendableRaw: 0n,
      heldRaw: 0n,
      creditedRaw: 0n,
      consumedRaw: 0n,
      counters: [],
      walletRaw: 0n,
      promisedRaw: 0n,
    };
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

  /** What was credited, by the references that begin with one of these and a colon. */
  readonly findCredited = async (
    groups: readonly string[],
  ): Promise<ReadonlyMap<string, bigint>> => {
    const wanted = new Set(groups);
    const known = [...this.postings].flatMap(([id, { posting }]) => {
      const reference = id.startsWith('credit:') ? id.slice('credit:'.length) : '';
      const isWanted = wanted.has(reference.slice(0, reference.lastIndexOf(':')));
      return isWanted ? [[reference, posting.askedRaw] as const] : [];
    });
    return new Map(known);
  };

  require(agentId: number): Balance {
    const balance = this.balances.get(agentId);
    if (balance === undefined) throw new Error(`no agent ${agentId}`);
    return balance;
  }

  async load(agentId: number): Promise<Balance | undefined> {
    return this.balances.get(agentId);
  }

  async apply(parts: readonly AgentBatch[], resent = false): Promise<readonly AgentBatchOutcome[]> {
    return this.applyNow(parts, resent);
  }

  async fenced(
    agentId: number,
    decide: (balance: Balance) => AgentBatch,
  ): Promise<AgentBatchOutcome> {
    const balance = this.balances.get(agentId);
    if (balance === undefined) return { kind: 'agent_unknown' };
    return this.applyNow([decide(balance)])[0] ?? { kind: 'agent_unknown' };
  }

  applyNow(parts: readonly AgentBatch[], resent = false): AgentBatchOutcome[] {
    const seen = new Set<string>();
    const verdicts = parts.map((part) =>
      part.changes.map((change) => this.#look(part.agentId, change, seen)),
    );
    const isStale = (part: AgentBatch) =>
      this.balances.get(part.agentId)?.state.version !== part.before.version;
    this.#admitTeams(parts, verdicts, isStale);
    const counts: TeamMove[] = [];
    const answers = parts.map((part, p): AgentBatchOutcome => {
      const balance = this.balances.get(part.agentId);
      if (balance === undefined) return { kind: 'agent_unknown' };
      const outcomes = verdicts[p] ?? [];
      const stale = isStale(part);
      if (stale || outcomes.some((outcome) => outcome !== undefined)) {
        const moves = resent && outcomes.some((outcome) => outcome?.kind === 'capped');
        if (moves) this.#moveOn(part.agentId, balance);
        return {
          kind: 'declined',
          state: this.require(part.agentId).state,
          stale: stale || moves,
          outcomes: outcomes.map((outcome) => outcome ?? { kind: 'again' }),
        };
      }
      this.#write(part, balance);
      counts.push(...teamMovesOf(part));
      return { kind: 'applied', state: part.after };
    });
    this.#countTeams(counts);
    return answers;
  }

  /** Admits what teams share in arrival order; what a part has taken that does not stand is given back. */
  #admitTeams(
    parts: readonly AgentBatch[],
    verdicts: (ChangeOutcome | undefined)[][],
    isStale: (part: AgentBatch) => boolean,
  ): void {
    let spent = new Map<number, bigint>();
    // What was decided on an old state may number the buckets of another window.
    const fresh = parts.filter(
      (part, p) => !isStale(part) && !verdicts[p]?.some((verdict) => verdict !== undefined),
    );
    for (const [policyId, { bucket }] of sumByPolicy(fresh.flatMap(teamMovesOf))) {
      const counter = this.teamCounters.get(policyId);
      if (counter !== undefined) spent.set(policyId, spentRaw(counter, bucket));
    }
    parts.forEach((part, p) => {
      const outcomes = verdicts[p] ?? [];
      if (isStale(part) || outcomes.some((outcome) => outcome !== undefined)) return;
      const before = new Map(spent);
      part.changes.forEach(({ count: by }, i) => {
        const over = by && tightest(by, (policyId) => spent.get(policyId) ?? 0n);
        if (over) outcomes[i] = over;
        else if (by) {
          for (const { policy } of by.team) {
            spent.set(policy.id, (spent.get(policy.id) ?? 0n) + by.heldRaw + by.settledRaw);
          }
        }
      });
      if (outcomes.some((outcome) => outcome !== undefined)) spent = before;
    });
  }

  /** All that a batch counts under a policy is one step of its counter. */
  #countTeams(moves: readonly TeamMove[]): void {
    for (const [policyId, by] of sumByPolicy(moves)) {
      const rolled = rollTo(this.#teamCounter(policyId), by.bucket);
      this.teamCounters.set(policyId, count(rolled, by.bucket, by));
    }
  }

  #teamCounter(policyId: number): Counter {
    const counter = this.teamCounters.get(policyId);
    if (counter === undefined) throw new Error(`policy ${policyId} of a team has no counter`);
    return counter;
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
    if (guard?.row === 'reservation') {
      const row = this.reservations.get(guard.id);
      if (row?.agentId !== agentId) return { kind: 'lost' };
      if (row.state !== guard.state) {
        return row.state === guard.doneAt ? { kind: 'already', leftRaw: 0n } : { kind: 'lost' };
      }
    }
    if (guard?.row === 'session') {
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

  /** A copy of what was refused does not stand when it arrives. */
  #moveOn(agentId: number, { state, rules }: Balance): void {
    this.balances.set(agentId, { state: { ...state, version: state.version + 1n }, rules });
  }

  #write(part: AgentBatch, balance: Balance): void {
    const written = part.changes.filter((change) => !change.probe);
    if (written.length === 0) return;
    let { spendableRaw, heldRaw, creditedRaw, consumedRaw, walletRaw, promisedRaw } = balance.state;
    for (const change of written) {
      spendableRaw += change.delta.spendableRaw;
      heldRaw += change.delta.heldRaw;
      creditedRaw += change.delta.creditedRaw;
      consumedRaw += change.delta.consumedRaw;
      walletRaw += change.delta.walletRaw;
      promisedRaw += change.delta.promisedRaw;
      this.#writeRows(part.agentId, change);
    }
    if (spendableRaw < 0n || heldRaw < 0n || promisedRaw < 0n)
      throw new Error('a balance went below zero');
    const version = balance.state.version + 1n;
    const { rulesVersion } = part.after;
    // Packed and unpacked, as the row keeps them.
    const counters = part.counted
      ? decodeCounters(encodeCounters(part.after.counters))
      : balance.state.counters;
    const state = {
      version,
      rulesVersion,
      spendableRaw,
      heldRaw,
      creditedRaw,
      consumedRaw,
      counters,
      walletRaw,
      promisedRaw,
    };
    const suspended = rulesVersion !== balance.state.rulesVersion;
    const rules = suspended ? { ...balance.rules, status: 'suspended' as const } : balance.rules;
    this.balances.set(part.agentId, { state, rules });
  }

  #writeRows(agentId: number, change: Change): void {
    const { posting, hold } = change;
    if (posting !== null) {
      if (this.postings.has(posting.id)) throw new Error(`${posting.id} was written twice`);
      this.postings.set(posting.id, { agentId, posting });
    }
    if (hold !== null && hold.toRaw === null) this.holds.delete(hold.holdId);
    else if (hold !== null && hold.toRaw !== null) {
      const { toRaw: amountRaw, facts } = hold;
      this.holds.set(hold.holdId, { agentId, amountRaw, facts });
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
      writePayment(this, companion);
      if (companion.row === 'threshold.crossed') {
        this.thresholds.set(companion.thresholdId, companion.state);
      }
      if (companion.row === 'journal') {
        this.journal.set(`${companion.sessionId}/${companion.entry.seq}`, companion.entry.costRaw);
      }
    }
  }

  /** Invariants 1 to 4 and 8, as sentences about what is wrong. */
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
    return [...found, ...paymentViolations(this)];
  }
}

/** One operation's count under one policy of a team. */
type TeamMove = { policyId: number; bucket: number; heldRaw: bigint; settledRaw: bigint };

const teamMovesOf = (part: AgentBatch): TeamMove[] =>
  part.changes.flatMap(({ count: by }) =>
    by === null
      ? []
      : by.team.map(({ policy, bucket }) => ({
          policyId: policy.id,
          bucket,
          heldRaw: by.heldRaw,
          settledRaw: by.settledRaw,
        })),
  );

/** Sums by policy, in the newest of their buckets. */
function sumByPolicy(moves: readonly TeamMove[]): Map<number, TeamMove> {
  const sums = new Map<number, TeamMove>();
  for (const move of moves) {
    const sum = sums.get(move.policyId);
    sums.set(move.policyId, {
      policyId: move.policyId,
      bucket: Math.max(sum?.bucket ?? 0, move.bucket),
      heldRaw: (sum?.heldRaw ?? 0n) + move.heldRaw,
      settledRaw: (sum?.settledRaw ?? 0n) + move.settledRaw,
    });
  }
  return sums;
}

/** The cap of the team that is told of those that this would cross: one that stops its agent, then the least room. */
function tightest(
  by: Count,
  spentOf: (policyId: number) => bigint,
): Extract<ChangeOutcome, { kind: 'capped' }> | undefined {
  let worst: { policyId: number; spentRaw: bigint; roomRaw: bigint; stops: boolean } | undefined;
  for (const { policy, capRaw } of by.team) {
    if (capRaw === null) continue;
    const roomRaw = capRaw - spentOf(policy.id);
    const stops = policy.action === 'suspend_agent';
    if (by.heldRaw <= roomRaw) continue;
    const isWorse =
      worst === undefined ||
      (stops === worst.stops ? roomRaw < worst.roomRaw : stops && !worst.stops);
    if (isWorse) worst = { policyId: policy.id, spentRaw: spentOf(policy.id), roomRaw, stops };
  }
  return worst && { kind: 'capped', policyId: worst.policyId, spentRaw: worst.spentRaw };
}

const isSame = (a: Posting, b: Posting): boolean => {
  if (b.nonce !== undefined && a.nonce !== b.nonce) return false;
  const [left, right] = [a.entries[0]?.credit, b.entries[0]?.credit];
  const account = left === undefined || right === undefined || left === right;
  return a.code === b.code && a.askedRaw === b.askedRaw && account;
};

const leftRaw = (posting: Posting): bigint =>
  posting.entries
    .filter((e) => e.debit.startsWith('agent:') && !e.credit.startsWith('agent:'))
    .reduce((sum, e) => sum + e.amountRaw, 0n);
