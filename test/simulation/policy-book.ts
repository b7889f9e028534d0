import type { AgentBatch, Change } from '../../src/ledger/rules/change.ts';
import type { Counter } from '../../src/policy/counter.ts';
import { emptyCounter } from '../../src/policy/counter.ts';
import { matches } from '../../src/policy/match.ts';
import { isEffective, type Policy, type SpendFacts } from '../../src/policy/policy.ts';
import { bucketAt, bucketStartMs, bucketsOf } from '../../src/policy/window.ts';
import type { MemoryLedger } from '../support/fakes/memory-ledger.ts';
import { policyOf } from '../support/spending.ts';
import type { Chance } from './seeded.ts';

export const TASKS = ['plan', 'write', 'check'] as const;
export const HOSTS = ['acme', 'api.acme.example', 'other.example'] as const;

/** `charges` are those that it matches: they alone are summed, again and again. */
type Living = { policy: Policy; startsMs: number; charges: Charge[] };
type Charge = { atMs: number; agentId: number; facts: SpendFacts; amountRaw: bigint };

/**
 * The policies of a simulated world, edited while money moves, and an account of its own of what was spent under
 * them: by plain sums over everything that ever happened, without buckets or counters.
 */
export class PolicyBook {
  readonly living = new Map<number, Living>();
  readonly #store: MemoryLedger;
  readonly #chance: Chance;
  readonly #agents: number;
  readonly #holds = new Map<string, { agentId: number; facts: SpendFacts; amountRaw: bigint }>();
  readonly #charges: Charge[] = [];
  #names = 0;
  /** The latest instant at which anything that stands was decided. */
  #nowMs = 0;
  admitted = 0;
  edits = 0;
  suspended = 0;

  constructor(store: MemoryLedger, chance: Chance, agents: number) {
    this.#store = store;
    this.#chance = chance;
    this.#agents = agents;
  }

  /** Makes, changes, restarts or revokes a policy, or resumes an agent that one has suspended. */
  edit(nowMs: number): void {
    this.edits++;
    const choice = this.#chance.below(8);
    const ids = [...this.living.keys()];
    if (choice < 2) this.#resume();
    else if (ids.length < 6 || (choice < 4 && ids.length < 12)) this.#create(nowMs);
    else this.#change(this.#chance.pick(ids), choice, nowMs);
  }

  #resume(): void {
    for (let agentId = 1; agentId <= this.#agents; agentId++) {
      if (this.#store.require(agentId).rules.status !== 'suspended') continue;
      this.suspended++;
      this.#store.changeRules(agentId, { status: 'active' });
    }
  }

  #create(nowMs: number): void {
    const chance = this.#chance;
    const [kind, matchKey] = chance.pick([
      ['session', null],
      ['task', chance.pick(TASKS)],
      ['api', chance.pick([...HOSTS, '.acme.example', '.example'])],
      ['key', '1'],
    ] as const);
    const window = chance.pick([
      { kind: 'rolling', seconds: 60 },
      { kind: 'rolling', seconds: 3_600 },
      { kind: 'calendar', unit: 'day' },
      { kind: 'once' },
      { kind: 'session' },
    ] as const);
    const isRunning = window.kind === 'rolling' || window.kind === 'calendar';
    const nowSec = Math.floor(nowMs / 1_000);
    const policy = policyOf({
      id: ++this.#names,
      kind,
      matchKey,
      window,
      agentId: chance.oneIn(3) ? null : 1 + chance.below(this.#agents),
      limitRaw: BigInt(60 + chance.below(1_500)),
      action: chance.oneIn(12) ? 'suspend_agent' : 'block',
      effectiveFromSec: chance.oneIn(8) ? nowSec + chance.below(60) : null,
      effectiveUntilSec: chance.oneIn(8) ? nowSec + 60 + chance.below(600) : null,
      expiresAtSec: window.kind === 'once' && chance.oneIn(2) ? nowSec + chance.below(900) : null,
    });
    const charges = this.#charges.filter((charge) => this.#caps(policy, charge));
    this.#write({ policy, startsMs: isRunning ? 0 : nowMs, charges }, nowMs);
  }

  #change(id: number, choice: number, nowMs: number): void {
    const known = this.living.get(id);
    if (known === undefined) return;
    const { policy } = known;
    if (choice < 5) {
      const limitRaw = BigInt(60 + this.#chance.below(1_500));
      this.#write({ ...known, policy: { ...policy, limitRaw } }, nowMs);
    } else if (choice < 6) this.#write({ ...known, startsMs: nowMs }, nowMs);
    else if (choice < 7 && policy.window.kind === 'rolling') {
      const seconds = policy.window.seconds === 60 ? 3_600 : 60;
      this.#write({ ...known, policy: { ...policy, window: { kind: 'rolling', seconds } } }, nowMs);
    } else {
      this.living.delete(id);
      this.#publish(policy, undefined);
    }
  }

  #write(living: Living, nowMs: number): void {
    this.living.set(living.policy.id, living);
    this.#publish(living.policy, this.#seed(living, nowMs));
  }

  /** The row, its counter and the versions of all that it caps change at once. */
  #publish(policy: Policy, counter: Counter | undefined): void {
    if (policy.agentId === null) {
      if (counter === undefined) this.#store.teamCounters.delete(policy.id);
      else this.#store.teamCounters.set(policy.id, counter);
      for (let agentId = 1; agentId <= this.#agents; agentId++) this.#refresh(agentId);
      return;
    }
    const { state, rules } = this.#store.require(policy.agentId);
    const others = state.counters.filter(({ policyId }) => policyId !== policy.id);
    const counters = [...others, ...(counter === undefined ? [] : [counter])];
    this.#store.balances.set(policy.agentId, { state: { ...state, counters }, rules });
    this.#refresh(policy.agentId);
  }

  #refresh(agentId: number): void {
    const all = [...this.living.values()].map(({ policy }) => policy).sort((a, b) => a.id - b.id);
    this.#store.changeRules(agentId, {
      policies: all.filter((policy) => policy.agentId === agentId),
      teamPolicies: all.filter((policy) => policy.agentId === null),
    });
  }

  #seed({ policy, startsMs, charges }: Living, nowMs: number): Counter {
    const head = bucketAt(policy, nowMs);
    const span = bucketsOf(policy.window);
    const buckets = emptyCounter(policy.id, span).buckets.slice();
    let settledRaw = 0n;
    for (const charge of charges) {
      const bucket = Math.min(bucketAt(policy, charge.atMs), head);
      if (charge.atMs < startsMs || bucket <= head - span) continue;
      buckets[bucket % span] = (buckets[bucket % span] ?? 0n) + charge.amountRaw;
      settledRaw += charge.amountRaw;
    }
    return { policyId: policy.id, heldRaw: this.#heldRaw(policy), head, buckets, settledRaw };
  }

  #caps(policy: Policy, spent: { agentId: number; facts: SpendFacts }): boolean {
    const { agentId } = policy;
    // Those behind the first ones belong to no team.
    const isWhose = agentId === null ? spent.agentId <= this.#agents : agentId === spent.agentId;
    return isWhose && matches(policy, spent.facts);
  }

  #heldRaw(policy: Policy): bigint {
    let raw = 0n;
    for (const hold of this.#holds.values()) if (this.#caps(policy, hold)) raw += hold.amountRaw;
    return raw;
  }

  /** What was really spent in the window that ends now, and is held. */
  #spentRaw({ policy, startsMs, charges }: Living): bigint {
    const fromMs = Math.max(startsMs, trueStartMs(policy, this.#nowMs));
    let raw = this.#heldRaw(policy);
    for (const { atMs, amountRaw } of charges) if (atMs >= fromMs) raw += amountRaw;
    return raw;
  }

  /**
   * Records what an agent's batch that stands did, one change after the other, and says where a hold was let through
   * that no cap had room for.
   */
  applied(part: AgentBatch, decidedMs: number): string[] {
    this.#nowMs = Math.max(this.#nowMs, decidedMs);
    const found: string[] = [];
    for (const change of part.changes) {
      const { probe, hold, delta } = change;
      const { agentId } = part;
      if (change.posting?.code === 'x402.correct')
        this.#charged(lateCharge(agentId, change, decidedMs));
      if (probe || hold === null) continue;
      const { holdId, fromRaw, toRaw, facts } = hold;
      if (toRaw === null) {
        this.#holds.delete(holdId);
        if (delta.consumedRaw > 0n) {
          this.#charged({ atMs: decidedMs, agentId, facts, amountRaw: delta.consumedRaw });
        }
        continue;
      }
      this.#holds.set(holdId, { agentId, facts, amountRaw: toRaw });
      if (toRaw <= (fromRaw ?? 0n)) continue;
      this.admitted++;
      for (const living of this.living.values()) {
        const { policy } = living;
        const isAsked = this.#caps(policy, { agentId, facts });
        if (!isAsked || !isEffective(policy, Math.floor(decidedMs / 1_000))) continue;
        const spent = this.#spentRaw(living);
        if (spent > policy.limitRaw) {
          found.push(`${holdId} took policy ${policy.id} to ${spent} of ${policy.limitRaw}`);
        }
      }
    }
    return found;
  }

  #charged(charge: Charge): void {
    this.#charges.push(charge);
    for (const living of this.living.values()) {
      if (this.#caps(living.policy, charge)) living.charges.push(charge);
    }
  }

  /** 5. What counts as held is what is open, and what was settled without an end of time is all of it. */
  violations(): string[] {
    const found: string[] = [];
    for (const living of this.living.values()) {
      const { policy } = living;
      const counter = this.#counterOf(policy);
      if (policy.expiresAtSec !== null || policy.effectiveUntilSec !== null) continue;
      const heldRaw = this.#heldRaw(policy);
      if (counter.heldRaw !== heldRaw) {
        found.push(`policy ${policy.id} counts ${counter.heldRaw} as held, open are ${heldRaw}`);
      }
      const { kind } = policy.window;
      if ((kind === 'once' || kind === 'session') && policy.effectiveFromSec === null) {
        const spent = this.#spentRaw(living) - heldRaw;
        if (counter.settledRaw !== spent) {
          found.push(`policy ${policy.id} counts ${counter.settledRaw}, settled were ${spent}`);
        }
      }
    }
    return found;
  }

  #counterOf(policy: Policy): Counter {
    const counter =
      policy.agentId === null
        ? this.#store.teamCounters.get(policy.id)
        : this.#store
            .require(policy.agentId)
            .state.counters.find(({ policyId }) => policyId === policy.id);
    return counter ?? emptyCounter(policy.id, bucketsOf(policy.window));
  }
}

/** What is debited after its release counts as what it was paid for, when it is debited. */
function lateCharge(agentId: number, change: Change, atMs: number): Charge {
  for (const companion of change.companions) {
    if (companion.row !== 'charge') continue;
    const { taskId, targetHost: host, payee } = companion.charge;
    const facts = { keyRootId: 1, taskId, host, payee };
    return { atMs, agentId, facts, amountRaw: change.delta.consumedRaw };
  }
  throw new Error('what was debited late is in no history');
}

/** A window's first instant as everybody would understand it, without buckets. */
function trueStartMs(policy: Policy, nowMs: number): number {
  const { window, effectiveFromSec } = policy;
  if (window.kind === 'rolling') return nowMs - window.seconds * 1_000 + 1;
  if (window.kind === 'calendar') return bucketStartMs(window, bucketAt(policy, nowMs)) ?? 0;
  return effectiveFromSec !== null && nowMs >= effectiveFromSec * 1_000
    ? effectiveFromSec * 1_000
    : 0;
}
