import { addCrossings, applyChange, partOf } from '../rules/agent-batch.ts';
import type { Resolution } from '../rules/answer.ts';
import type { AgentBatch, BalanceState, Change } from '../rules/change.ts';
import { decide } from '../rules/decide.ts';
import { type Decision, refused } from '../rules/decision.ts';
import { exclusiveKey, type Operation } from '../rules/operation.ts';
import type { HoldRefusal } from '../rules/requests.ts';
import { alignCounters, windowPositionAt } from '../rules/window-position.ts';
import type { Balance } from '../store/balances.ts';

/** Number of operations that wait in this process, shared by the inboxes of all agents. */
export type Waiting = { count: number };

/** Operation in a balance actor's inbox, from its arrival until the database has answered. */
export class Pending {
  readonly operation: Operation;
  readonly sinceMs: number;
  readonly #waiting: Waiting;
  readonly #fulfil: (resolution: Resolution) => void;
  /** Rejects the caller's promise. The operation stays in the inbox. */
  readonly fail: (error: unknown) => void;
  misses = 0;
  /** True once the operation was sent to the database, where it may be stored. */
  sent = false;
  /** True when the caller got the error that the database is away. The operation may still be carried out. */
  givenUp = false;
  /**
   * True after a batch that the database could not carry out. The operation now goes alone, so that the operation at fault is
   * found.
   */
  alone = false;
  /**
   * The operation that is written together with this operation and takes the amount that it gives; undefined when there is none
   * (any more).
   */
  taker: Pending | undefined;
  /** The operation whose amount this operation takes. */
  giver: Pending | undefined;

  constructor(
    operation: Operation,
    sinceMs: number,
    waiting: Waiting,
    fulfil: (resolution: Resolution) => void,
    fail: (error: unknown) => void,
  ) {
    this.operation = operation;
    this.sinceMs = sinceMs;
    this.#waiting = waiting;
    this.#fulfil = fulfil;
    this.fail = fail;
    waiting.count++;
  }

  /**
   * Rejects for a caller that has waited since before `beforeMs`. Returns true when the operation is dropped, because it was
   * never sent and would only hold money, or pay it out behind the caller's back.
   */
  giveUp(beforeMs: number, error: () => Error): boolean {
    if (this.givenUp || this.sinceMs > beforeMs) return false;
    const { operation } = this;
    const { kind } = operation;
    const isLoan = kind === 'shrink' && this.taker !== undefined;
    const isTransfer = operation.kind === 'withdraw' && operation.amountRaw !== undefined;
    if (!this.sent && (kind === 'hold' || kind === 'extend' || isLoan || isTransfer)) {
      this.reject(error());
      return true;
    }
    this.givenUp = true;
    this.fail(error());
    return false;
  }

  /** Makes both operations be decided in one batch, `taker` after this operation. */
  pairWith(taker: Pending): void {
    this.taker = taker;
    taker.giver = this;
  }

  #part(): void {
    if (this.taker !== undefined) this.taker.giver = undefined;
    if (this.giver !== undefined) this.giver.taker = undefined;
  }

  /** Resolves the caller's promise. Either `resolve` or `reject` is called, once. */
  resolve(resolution: Resolution): void {
    this.#part();
    this.#waiting.count--;
    this.#fulfil(resolution);
  }

  reject(error: unknown): void {
    this.#part();
    this.#waiting.count--;
    this.fail(error);
  }
}

export type TakenOperation = { readonly pending: Pending; readonly decision: Decision };

export type Take = {
  readonly taken: readonly TakenOperation[];
  readonly part: AgentBatch;
  readonly rest: Pending[];
};

/**
 * Decides waiting operations in the order of arrival, each on the state after the operation before. Of two operations on the
 * same hold or reference, the second waits until the outcome of the first is known.
 */
export function takeOperations(
  agentId: number,
  queue: readonly Pending[],
  balance: Balance,
  options: {
    readonly limit: number;
    /** Database's time in Unix milliseconds. */
    readonly nowMs: number;
    readonly openHolds: ReadonlyMap<string, bigint>;
  },
): Take {
  const { rules } = balance;
  const position = windowPositionAt(rules, options.nowMs);
  const world = { rules, position, openHolds: options.openHolds };
  const limit = queue[0]?.alone ? 1 : options.limit;
  const taken: TakenOperation[] = [];
  const changes: Change[] = [];
  const rest: Pending[] = [];
  const busy = new Set<string>();
  const before = {
    ...balance.state,
    counters: alignCounters(rules, balance.state.counters, position),
  };
  let state: BalanceState = before;
  const add = (pending: Pending, decision: Decision): void => {
    const key = exclusiveKey(pending.operation);
    if (key !== undefined) busy.add(key);
    if (!decision.change.probe) state = applyChange(state, decision.change, position);
    pending.sent = true;
    taken.push({ pending, decision });
    changes.push(decision.change);
  };
  const take = (pending: Pending): void => {
    try {
      add(pending, decide(state, pending.operation, world));
    } catch (error) {
      // The caller's function that describes the charge failed. The operation was not sent.
      pending.reject(error);
    }
  };
  /** Decides a loan and the hold that takes it. When the hold is refused, the loan is refused with it. */
  const takeLoan = (lending: Pending, holding: Pending): void => {
    const lent = decide(state, lending.operation, world);
    const held = decide(applyChange(state, lent.change, position), holding.operation, world);
    add(lending, held.kind === 'refused' ? refusedWith(held.refusal, lent) : lent);
    add(holding, held);
  };
  const takers = takersIn(queue);
  const isTaker = new Set(takers?.values());
  for (const pending of queue) {
    if (isTaker.has(pending) || pending.giver !== undefined) continue;
    const taker = pending.taker ?? takers?.get(pending);
    const isSplit = pending.alone && pending.taker === undefined;
    const together = taker === undefined || isSplit ? [pending] : [pending, taker];
    const isBusy = busyWith(busy, pending) || (taker !== undefined && busyWith(busy, taker));
    const hasRoom = taken.length + together.length <= limit || (taken.length === 0 && limit > 0);
    if (hasRoom && !isBusy && !(pending.alone && taken.length > 0)) {
      if (pending.taker !== undefined && pending.operation.kind === 'shrink') {
        takeLoan(pending, pending.taker);
      } else together.forEach(take);
      if (taker !== undefined && isSplit) rest.push(taker);
      continue;
    }
    rest.push(pending);
    if (taker === undefined) continue;
    rest.push(taker);
    // Later operations on either hold stay behind these two.
    for (const { operation } of [pending, taker]) busy.add(exclusiveKey(operation) ?? '');
  }
  addCrossings(rules, agentId, before, state, changes);
  return { taken, part: partOf(agentId, before, state, changes), rest };
}

/** Turns a decision into a refusal, whose posting is only looked up. */
const refusedWith = (refusal: HoldRefusal, { change }: Decision): Decision =>
  change.posting === null ? { kind: 'refused', refusal, change } : refused(refusal, change.posting);

const busyWith = (busy: ReadonlySet<string>, { operation }: Pending): boolean => {
  const key = exclusiveKey(operation);
  return key !== undefined && busy.has(key);
};

/**
 * Finds, for each operation that shrinks a hold in favour of another hold, the waiting operation that takes the amount. Both
 * operations are decided together, because an operation between them could take the money. Undefined when no hold shrinks.
 */
function takersIn(queue: readonly Pending[]): Map<Pending, Pending> | undefined {
  if (!queue.some(({ operation }) => operation.kind === 'shrink')) return undefined;
  const takers = new Map<Pending, Pending>();
  /** Operations after the present one that request money, by hold. The first one counts for each hold. */
  const asking = new Map<string, Pending>();
  for (const pending of [...queue].reverse()) {
    const { operation } = pending;
    if (operation.kind === 'hold' || operation.kind === 'extend') {
      asking.set(exclusiveKey(operation) ?? '', pending);
    }
    if (operation.kind !== 'shrink' || operation.forHoldId === undefined) continue;
    if (operation.isLoan === true) continue;
    const taker = asking.get(operation.forHoldId);
    if (taker !== undefined) takers.set(pending, taker);
    asking.delete(operation.forHoldId);
  }
  return takers;
}
