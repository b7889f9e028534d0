import type { Resolution } from '../rules/answer.ts';
import type { AgentBatch, BalanceState, Change } from '../rules/change.ts';
import { applyChange, decide, partOf, tellCrossings } from '../rules/decide.ts';
import type { Decision } from '../rules/decision.ts';
import { exclusiveKey, type Operation } from '../rules/operation.ts';
import { alignCounters, windowPositionAt } from '../rules/window-position.ts';
import type { Balance } from '../store/balances.ts';

/** Where an operation is counted while it waits. */
export type Waiting = { count: number };

/** One operation in a balance actor's inbox, until the database has spoken. */
export class Pending {
  readonly operation: Operation;
  readonly sinceMs: number;
  readonly #waiting: Waiting;
  readonly #fulfil: (resolution: Resolution) => void;
  /** Rejects for its caller, while the operation stays in the inbox. */
  readonly tell: (error: unknown) => void;
  misses = 0;
  /** It has been on its way to the database, so it may stand there. */
  sent = false;
  /** Its caller got the error that the database is away; the operation may still be carried out. */
  givenUp = false;
  /** It was in a batch that the database could not carry out: it goes alone, to find the culprit. */
  alone = false;

  constructor(
    operation: Operation,
    sinceMs: number,
    waiting: Waiting,
    fulfil: (resolution: Resolution) => void,
    tell: (error: unknown) => void,
  ) {
    this.operation = operation;
    this.sinceMs = sinceMs;
    this.#waiting = waiting;
    this.#fulfil = fulfil;
    this.tell = tell;
    waiting.count++;
  }

  /**
   * Fails the caller that has waited since before `beforeMs`. True: the operation is dropped, because nothing of it was ever sent and it
   * only wanted money set aside.
   */
  giveUp(beforeMs: number, error: () => Error): boolean {
    if (this.givenUp || this.sinceMs > beforeMs) return false;
    const { kind } = this.operation;
    if (!this.sent && (kind === 'hold' || kind === 'extend')) {
      this.reject(error());
      return true;
    }
    this.givenUp = true;
    this.tell(error());
    return false;
  }

  /** It leaves the inbox, by this or by `reject`, once. */
  resolve(resolution: Resolution): void {
    this.#waiting.count--;
    this.#fulfil(resolution);
  }

  reject(error: unknown): void {
    this.#waiting.count--;
    this.tell(error);
  }
}

export type Taken = { readonly pending: Pending; readonly decision: Decision };

export type Take = {
  readonly taken: readonly Taken[];
  readonly part: AgentBatch;
  readonly rest: Pending[];
};

/**
 * Decides what waits, in arrival order, each on the state that the one before it left. Of two
 * operations on the same hold or reference the second stays behind until the first is known.
 */
export function takeOperations(
  agentId: number,
  queue: readonly Pending[],
  balance: Balance,
  options: {
    readonly limit: number;
    /** By the database's clock. */
    readonly nowMs: number;
    readonly openHolds: ReadonlyMap<string, bigint>;
  },
): Take {
  const { rules } = balance;
  const position = windowPositionAt(rules, options.nowMs);
  const world = { rules, position, openHolds: options.openHolds };
  const limit = queue[0]?.alone ? 1 : options.limit;
  const taken: Taken[] = [];
  const changes: Change[] = [];
  const rest: Pending[] = [];
  const busy = new Set<string>();
  const before = {
    ...balance.state,
    counters: alignCounters(rules, balance.state.counters, position),
  };
  let state: BalanceState = before;
  for (const pending of queue) {
    const key = exclusiveKey(pending.operation);
    const waits = key !== undefined && busy.has(key);
    if (taken.length >= limit || waits || (pending.alone && taken.length > 0)) {
      rest.push(pending);
      continue;
    }
    if (key !== undefined) busy.add(key);
    try {
      const decision = decide(state, pending.operation, world);
      if (!decision.change.probe) state = applyChange(state, decision.change, position);
      pending.sent = true;
      taken.push({ pending, decision });
      changes.push(decision.change);
    } catch (error) {
      // A charge that its caller could not describe; nothing was sent.
      pending.reject(error);
    }
  }
  tellCrossings(rules, agentId, before, state, changes);
  return { taken, part: partOf(agentId, before, state, changes), rest };
}
