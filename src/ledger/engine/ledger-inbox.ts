import { type Clock, sleep, soon, type TimerHandle } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Resolution } from '../rules/answer.ts';
import { factsOf, type Operation } from '../rules/operation.ts';
import type { Balance, BalanceStore } from '../store/balances.ts';
import { type BalanceActors, createBalanceActors } from './balance-actors.ts';
import { ledgerErrors } from './errors.ts';
import { createLedgerCounters } from './ledger-counters.ts';
import { createLedgerWriter, type LedgerWriter } from './ledger-writer.ts';
import { LEDGER_LIMITS } from './limits.ts';
import { Pending, type Waiting } from './pending-operation.ts';
import { createRetry, createRetryingRead, type RetryingRead } from './retry.ts';
import { createSlots } from './slots.ts';

export type LedgerDeps = {
  readonly store: BalanceStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Renews this process's lease. Called before a call is sent again after an outage. */
  readonly renewLease?: () => Promise<void>;
  /** Schedules a callback after everything that is ready to run. A simulation, which controls time, passes its own function. */
  readonly soon?: (callback: () => void) => void;
  /** Returns the database's time in Unix milliseconds. Absent: this process's own time. */
  readonly now?: () => number;
  /** Called when a cap has suspended an agent, so that this process knows at once. Other processes read of it later. */
  readonly onSuspended?: (agentId: number) => void;
  /** Number of balance actors that are kept in memory. */
  readonly actors?: number;
};

/** Queue of all operations that wait in this process, with one bound for all agents. Every wait has a time limit. */
export class LedgerInbox {
  readonly counters = createLedgerCounters();
  readonly read: RetryingRead;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #writer: LedgerWriter;
  readonly #actors: BalanceActors;
  readonly #waiting: Waiting = { count: 0 };
  #stopped = false;
  #sweep: TimerHandle | undefined;

  constructor(deps: LedgerDeps) {
    const { store, clock, log } = deps;
    const { counters } = this;
    const retry = createRetry(clock);
    this.#clock = clock;
    this.#log = log;
    this.read = createRetryingRead(clock, () => this.#stopped);
    this.#writer = createLedgerWriter({
      store,
      retry,
      counters,
      log,
      afterOutage: async () => deps.renewLease?.(),
      soon: deps.soon ?? soon,
    });
    this.#actors = createBalanceActors(
      {
        store,
        retry,
        counters,
        clock,
        log,
        now: deps.now ?? (() => clock.now()),
        offer: this.#writer.offer,
        fenceSlot: createSlots(LEDGER_LIMITS.fence.inFlight),
        onAbandoned: (operation, resolution) => this.#release(operation, resolution),
      },
      deps.actors,
    );
  }

  get waiting(): number {
    return this.#waiting.count;
  }

  get actors(): number {
    return this.#actors.size;
  }

  /**
   * Resolves once the database has answered. Rejects at once when too many operations wait, except for a settlement or a
   * suspension.
   */
  submit(operation: Operation): Promise<Resolution> {
    if (this.#stopped) return Promise.reject(ledgerErrors.away());
    const isFull = this.#waiting.count >= LEDGER_LIMITS.batch.inboxOperations;
    // A refused settlement would leave its hold open for good; there is only one settlement per hold. A suspension is needed
    // by the very agent that fills the queue; there is only one per agent and batch.
    if (isFull && operation.kind !== 'settle' && operation.kind !== 'suspend') {
      this.counters.refusedFull++;
      return Promise.reject(ledgerErrors.full());
    }
    return this.#enter(operation);
  }

  /**
   * Submits two operations of one agent that are written in one commit: lending a part of a hold, or settling a hold that
   * returns its remainder to a reserve.
   */
  async submitPair(giving: Operation, taking: Operation): Promise<[Resolution, Resolution]> {
    const isFull = this.#waiting.count + 1 >= LEDGER_LIMITS.batch.inboxOperations;
    if (!this.#stopped && !isFull) return Promise.all(this.#enterPair(giving, taking));
    // A settlement is made even without its pair. Its remainder then returns to the balance.
    if (giving.kind === 'settle') return [await this.submit(giving), { kind: 'lost' }];
    if (this.#stopped) throw ledgerErrors.away();
    this.counters.refusedFull++;
    throw ledgerErrors.full();
  }

  forget(agentId: number): void {
    const actor = this.#actors.find(agentId);
    if (actor === undefined) return;
    if (actor.isIdle()) this.#actors.evict(agentId);
    else actor.forget();
  }

  recall(agentId: number): Balance | undefined {
    return this.#actors.find(agentId)?.recall();
  }

  /**
   * Resolves once the newest operation of the agent is over, with whatever outcome. Operations submitted meanwhile are not
   * waited for.
   */
  async settled(agentId: number): Promise<void> {
    await this.#actors.find(agentId)?.newest?.catch(() => {});
  }

  /** Resolves when no operation waits any more, or after `withinMs` milliseconds. */
  async drain(withinMs: number): Promise<void> {
    const end = this.#clock.monotonicMs() + withinMs;
    while (this.#waiting.count > 0 && this.#clock.monotonicMs() < end) await sleep(this.#clock, 10);
  }

  async stop(): Promise<void> {
    await this.drain(LEDGER_LIMITS.calls.giveUpMs);
    this.#stopped = true;
    this.#writer.stop();
    if (this.#sweep !== undefined) this.#clock.clearTimeout(this.#sweep);
    for (const actor of [...this.#actors.all()]) {
      // Nothing is sent any more, so that the remaining operations would wait for ever.
      actor.giveUp(Number.POSITIVE_INFINITY, () => this.#away());
      this.#actors.evict(actor.agentId);
    }
  }

  #enter(operation: Operation): Promise<Resolution> {
    if (this.#sweep === undefined) this.#watch();
    const now = this.#clock.monotonicMs();
    const actor = this.#actors.of(operation.agentId);
    const over = new Promise<Resolution>((resolve, reject) => {
      actor.submit(new Pending(operation, now, this.#waiting, resolve, reject));
    });
    actor.newest = over;
    return over;
  }

  #enterPair(giving: Operation, taking: Operation): [Promise<Resolution>, Promise<Resolution>] {
    if (this.#sweep === undefined) this.#watch();
    const now = this.#clock.monotonicMs();
    const actor = this.#actors.of(giving.agentId);
    const waits = (operation: Operation) => {
      let pending: Pending | undefined;
      const over = new Promise<Resolution>((resolve, reject) => {
        pending = new Pending(operation, now, this.#waiting, resolve, reject);
      });
      return { over, pending: pending as unknown as Pending };
    };
    const giver = waits(giving);
    const taker = waits(taking);
    giver.pending.pairWith(taker.pending);
    actor.submitPair(giver.pending, taker.pending);
    actor.newest = taker.over;
    return [giver.over, taker.over];
  }

  /** Rejects callers that have waited too long, at intervals while any operation waits. */
  #watch(): void {
    this.#sweep = this.#clock.setTimeout(() => {
      this.#sweep = undefined;
      if (this.#stopped) return;
      const beforeMs = this.#clock.monotonicMs() - LEDGER_LIMITS.calls.giveUpMs;
      for (const actor of this.#actors.all()) actor.giveUp(beforeMs, () => this.#away());
      if (this.#waiting.count > 0) this.#watch();
    }, LEDGER_LIMITS.calls.giveUpMs / 4);
  }

  #away(): Error {
    this.counters.gaveUp++;
    return ledgerErrors.away();
  }

  /** Releases a hold whose caller has given up and would never settle it. May exceed the inbox's bound. */
  #release(operation: Operation, resolution: Resolution): void {
    if (operation.kind !== 'hold') return;
    if (resolution.kind !== 'applied' && resolution.kind !== 'already') return;
    const { agentId, holdId, amountRaw, session, reservation } = operation;
    const hold = { agentId, holdId, amountRaw, facts: factsOf(operation) };
    const ends = session && {
      claim: { sessionId: session.sessionId, epoch: 1, hold },
      reason: 'abandoned',
    };
    const account = session?.account ?? 'gateway';
    const request = { actualRaw: 0n, account, source: 'abandoned' };
    // The caller of the hold was refused and has sent nothing.
    const move =
      reservation && ({ nonce: reservation.nonce, from: 'reserved', to: 'released' } as const);
    this.#enter({ kind: 'settle', agentId, hold, request, ends, move }).catch((error) =>
      this.#log.error({ err: error, agentId }, 'an abandoned hold was not released'),
    );
  }
}
