import { type Actor, createActor } from 'xstate';
import { balanceMachine } from '../../../machines/balance.ts';
import { assert } from '../../kernel/assert.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { answerWithin, CallTimeout, isTransient } from '../../platform/postgres/transient.ts';
import type { Resolution } from '../rules/answer.ts';
import type { AgentBatch, AgentBatchOutcome } from '../rules/change.ts';
import type { Operation } from '../rules/operation.ts';
import type { Balance, BalanceStore } from '../store/balances.ts';
import type { LedgerCounters } from './ledger-counters.ts';
import type { BatchSource } from './ledger-writer.ts';
import { LEDGER_LIMITS } from './limits.ts';
import { noteReport } from './note-report.ts';
import { type Pending, type TakenOperation, takeOperations } from './pending-operation.ts';
import { resolveBatch } from './resolve-batch.ts';
import type { Retry } from './retry.ts';

export type BalanceActorDeps = {
  readonly agentId: number;
  readonly store: BalanceStore;
  readonly offer: (source: BatchSource) => void;
  readonly retry: Retry;
  /** Bounds the rows that are locked at a time, so that they never occupy the whole connection pool. */
  readonly fenceSlot: <T>(work: () => Promise<T>) => Promise<T>;
  /** Called when an operation ends after its caller has given up. */
  readonly onAbandoned: (operation: Operation, resolution: Resolution) => void;
  /** Called when the actor cannot be used any more, because its agent is unknown or the actor failed. */
  readonly onGone: () => void;
  readonly counters: LedgerCounters;
  readonly clock: Clock;
  /** Returns the database's time in Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
};

const NONE: readonly TakenOperation[] = [];

/** One agent's inbox and this process's copy of its state. A decision stands once the database has confirmed it. */
export class BalanceActor implements BatchSource {
  readonly agentId: number;
  /** The operation that was submitted last, whether it is still waiting or over. */
  newest: Promise<Resolution> | undefined;
  readonly #deps: BalanceActorDeps;
  readonly #machine: Actor<typeof balanceMachine>;
  /** True amounts of open holds, by hold id, that grew without their callers' knowledge. */
  readonly #openHolds = new Map<string, bigint>();
  #balance: Balance | undefined;
  #queue: Pending[] = [];
  /** The operations of the batch that is in progress at the database. */
  #taken = NONE;
  #gone = false;
  #readMs = 0;
  /** Monotonic milliseconds of the database's last answer. */
  #toldMs = 0;
  /** True when the rules changed while a batch was in progress. */
  #rulesVoid = false;

  constructor(deps: BalanceActorDeps) {
    this.agentId = deps.agentId;
    this.#deps = deps;
    this.#machine = createActor(balanceMachine, {
      input: {
        missesBeforeFence: LEDGER_LIMITS.fence.missesBefore,
        waryParts: LEDGER_LIMITS.fence.waryParts,
        effects: {
          load: () => void this.#load(),
          offer: () => this.#offer(),
          fence: () => void this.#fence(),
          dismiss: () => this.#dismiss(),
        },
      },
    });
    // Without this observer, an error in an action would end the process.
    this.#machine.subscribe({ error: (error) => this.#fail(error) });
    this.#machine.start();
  }

  submit(pending: Pending): void {
    this.#queue.push(pending);
    if (!this.#gone) this.#offer();
  }

  /** Two operations that are decided and written together. */
  submitPair(giver: Pending, taker: Pending): void {
    this.#queue.push(giver);
    this.submit(taker);
  }

  plan(limit: number): AgentBatch | undefined {
    if (this.#queue.length === 0 || this.#taken.length > 0) return undefined;
    const { value } = this.#machine.getSnapshot();
    if (value === 'wary') this.#machine.send({ type: 'work.waiting' });
    if (value !== 'ready') return undefined;
    if (this.#isQualityOld()) {
      this.#machine.send({ type: 'rules.changed' });
      return undefined;
    }
    const part = this.#take(limit);
    return this.#taken.length === 0 ? undefined : part;
  }

  goesAlone(): boolean {
    return this.#queue[0]?.alone === true;
  }

  answered(outcome: AgentBatchOutcome): void {
    if (this.#gone) return;
    if (outcome.kind === 'agent_unknown') this.#machine.send({ type: 'agent.missing' });
    else this.#close(outcome);
  }

  broke(error: unknown): void {
    if (this.#gone) return;
    if (isTransient(error)) this.#putBack();
    else this.#blame(error);
    this.#machine.send({ type: 'part.broken' });
  }

  /** Drops this process's copy of the agent's rules. */
  forget(): void {
    if (this.#taken.length > 0) this.#rulesVoid = true;
    else this.#machine.send({ type: 'rules.changed' });
  }

  /** Rejects callers that have waited since before `beforeMs`, because the database does not answer. */
  giveUp(beforeMs: number, error: () => Error): void {
    this.#queue = this.#queue.filter((pending) => !pending.giveUp(beforeMs, error));
    for (const { pending } of this.#taken) pending.giveUp(beforeMs, error);
  }

  /**
   * Returns the state of the database's last answer when that is at most `LEDGER_LIMITS.actors.recallMs` old and no rule has
   * changed since.
   */
  recall(): Balance | undefined {
    const isOld = this.#deps.clock.monotonicMs() - this.#toldMs > LEDGER_LIMITS.actors.recallMs;
    if (isOld || this.#rulesVoid || this.#machine.getSnapshot().value !== 'ready') return undefined;
    return this.#balance;
  }

  isIdle(): boolean {
    return this.#queue.length === 0 && this.#taken.length === 0;
  }

  stop(): void {
    this.#gone = true;
    this.#machine.stop();
  }

  async #load(): Promise<void> {
    const { retry, store } = this.#deps;
    try {
      this.#readMs = this.#deps.clock.monotonicMs();
      this.#balance = await retry(() => store.load(this.agentId), { until: () => this.#gone });
      if (this.#gone) return;
      this.#toldMs = this.#readMs;
      const type = this.#balance === undefined ? 'agent.missing' : 'balance.loaded';
      this.#machine.send({ type });
    } catch (error) {
      if (!this.#gone) this.#fail(error);
    }
  }

  async #fence(): Promise<void> {
    const { clock, counters, fenceSlot, store } = this.#deps;
    counters.fences++;
    let waitedFor = true;
    const decide = (locked: Balance): AgentBatch => {
      // The callers gave up and their operations may be in another batch by now. This error rolls the sql transaction
      // back.
      if (!waitedFor) throw new CallTimeout('the row came after its callers had given up');
      this.#balance = locked;
      return this.#take(LEDGER_LIMITS.batch.operations);
    };
    try {
      const fenced = () =>
        answerWithin(clock, LEDGER_LIMITS.calls.timeoutMs, store.fenced(this.agentId, decide));
      this.answered(await fenceSlot(fenced));
    } catch (error) {
      // The outcome of the commit may be unknown. Sending the batch again is harmless, because its operations keep
      // their ids.
      this.broke(error);
    } finally {
      waitedFor = false;
    }
  }

  /**
   * Returns true when the outcome quality in the rules was read more than `LEDGER_LIMITS.actors.qualityMs` ago. It changes
   * without a new version of the rules.
   */
  #isQualityOld(): boolean {
    if (this.#balance === undefined || this.#balance.rules.quality.size === 0) return false;
    return this.#deps.clock.monotonicMs() - this.#readMs > LEDGER_LIMITS.actors.qualityMs;
  }

  #take(limit: number): AgentBatch {
    const { agentId } = this;
    assert(this.#taken.length === 0, 'what is under way is not lost from sight');
    assert(this.#balance !== undefined, 'a balance is read before anything is decided on it');
    const found = takeOperations(agentId, this.#queue, this.#balance, {
      limit,
      nowMs: this.#deps.now(),
      openHolds: this.#openHolds,
    });
    this.#queue = found.rest;
    this.#taken = found.taken;
    return found.part;
  }

  #putBack(): void {
    if (this.#taken.length === 0) return;
    this.#queue = [...this.#taken.map((item) => item.pending), ...this.#queue];
    this.#taken = NONE;
  }

  #close(outcome: Exclude<AgentBatchOutcome, { kind: 'agent_unknown' }>): void {
    const known = this.#balance;
    const busy = this.#taken.length >= LEDGER_LIMITS.fence.busyOperations;
    this.#finish(outcome);
    if (known !== undefined) this.#balance = { state: outcome.state, rules: known.rules };
    this.#toldMs = this.#deps.clock.monotonicMs();
    const moved = outcome.state.rulesVersion !== known?.state.rulesVersion;
    const rulesMoved = this.#rulesVoid || moved;
    this.#rulesVoid = false;
    const { value, context } = this.#machine.getSnapshot();
    if (outcome.kind === 'declined') {
      if (outcome.stale) this.#deps.counters.misses++;
      this.#machine.send({ type: 'part.declined', stale: outcome.stale, rulesMoved });
      return;
    }
    if (context.misses > 0 || value === 'fenced') {
      this.#machine.send({ type: 'part.applied', busy });
    }
    if (rulesMoved) this.#machine.send({ type: 'rules.changed' });
    else this.#offer();
  }

  /** Answers every operation whose outcome is known and puts the other operations back to the front of the queue. */
  #finish(outcome: AgentBatchOutcome): void {
    const report = resolveBatch(this.#taken, outcome, this.#balance?.rules);
    this.#taken = NONE;
    noteReport(this.#deps, report);
    for (const { pending, resolution } of report.resolved) {
      const { operation } = pending;
      if (operation.kind === 'settle') this.#openHolds.delete(operation.hold.holdId);
      if (pending.givenUp) this.#deps.onAbandoned(operation, resolution);
      pending.resolve(resolution);
    }
    for (const [holdId, openRaw] of report.openHolds) this.#openHolds.set(holdId, openRaw);
    if (report.again.length > 0) this.#queue = [...report.again, ...this.#queue];
  }

  /**
   * Handles a batch that the database cannot carry out: each operation is tried alone. An operation that was alone already is
   * at fault and is rejected.
   */
  #blame(error: unknown): void {
    const [only, second] = this.#taken;
    const isPair = this.#taken.length === 2 && second?.pending === only?.pending.taker;
    const isLone = this.#taken.length === 1 || isPair;
    if (only === undefined || !isLone || !only.pending.alone) {
      for (const { pending } of this.#taken) pending.alone = true;
      this.#putBack();
      return;
    }
    const { counters, log } = this.#deps;
    const { kind } = only.pending.operation;
    counters.failed++;
    log.error({ err: error, agentId: this.agentId, kind }, 'cannot be carried out');
    this.#taken = NONE;
    second?.pending.reject(error);
    only.pending.reject(error);
  }

  #offer(): void {
    if (this.#queue.length > 0) this.#deps.offer(this);
  }

  #dismiss(): void {
    this.#finish({ kind: 'agent_unknown' });
    for (const pending of this.#queue) pending.resolve({ kind: 'agent_unknown' });
    this.#leave();
  }

  #fail(error: unknown): void {
    this.#deps.log.error({ err: error, agentId: this.agentId }, 'a balance actor broke');
    for (const { pending } of this.#taken) pending.reject(error);
    for (const pending of this.#queue) pending.reject(error);
    this.#leave();
  }

  #leave(): void {
    this.#taken = NONE;
    this.#queue = [];
    this.#gone = true;
    this.#deps.onGone();
  }
}
