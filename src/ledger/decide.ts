import { type Rules, refusalOf } from './admit.ts';
import {
  creditPosting,
  extendPosting,
  holdPosting,
  settlePosting,
  withdrawPosting,
} from './build-postings.ts';
import type { BalanceState, Change, Companion, Delta, Guard, Part } from './change.ts';
import type { HoldRefusal, SessionClaim } from './ledger.ts';
import type {
  ExtendOperation,
  HoldOperation,
  JournalOperation,
  Operation,
  SettleOperation,
} from './operation.ts';
import type { Posting } from './posting.ts';

/** What an operation comes to on the state it was decided on. */
export type Decision =
  | {
      readonly kind: 'change';
      readonly change: Change;
      /** What left the agent: charged or withdrawn. */
      readonly leftRaw: bigint;
      readonly shortfallRaw: bigint;
    }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal; readonly change: Change };

export type World = {
  readonly rules: Rules;
  readonly nowSec: number;
  /** Amounts of open holds where the database has said that the caller's knowledge is old. */
  readonly openHolds: ReadonlyMap<string, bigint>;
};

const NOTHING: Delta = { spendableRaw: 0n, heldRaw: 0n, creditedRaw: 0n, consumedRaw: 0n };
const NO_ROWS: readonly Companion[] = [];

/** The state after a delta; the version stays, since it moves once a part. */
export function applyDelta(state: BalanceState, delta: Delta): BalanceState {
  return {
    version: state.version,
    rulesVersion: state.rulesVersion,
    spendableRaw: state.spendableRaw + delta.spendableRaw,
    heldRaw: state.heldRaw + delta.heldRaw,
    creditedRaw: state.creditedRaw + delta.creditedRaw,
    consumedRaw: state.consumedRaw + delta.consumedRaw,
  };
}

/** Makes a part of changes that were decided one after the other, from `before` to `after`. */
export function partOf(
  agentId: number,
  before: BalanceState,
  after: BalanceState,
  changes: readonly Change[],
): Part {
  let writes = 0;
  for (const change of changes) if (!change.probe) writes++;
  const version = writes > 0 ? before.version + 1n : before.version;
  return { agentId, before, after: { ...after, version }, writes, changes };
}

/** Decides one operation on `state`. Pure: the caller carries the state from one to the next. */
export function decide(state: BalanceState, operation: Operation, world: World): Decision {
  switch (operation.kind) {
    case 'hold':
      return decideHold(state, operation, world);
    case 'extend':
      return decideExtend(state, operation, world);
    case 'settle':
      return decideSettle(state, operation, world);
    case 'journal':
      return decideJournal(operation);
    case 'credit': {
      const { agentId, amountRaw, reference } = operation;
      return changed({
        posting: creditPosting(agentId, reference, amountRaw),
        delta: { ...NOTHING, spendableRaw: amountRaw, creditedRaw: amountRaw },
        companions: operation.events.map((event) => ({ row: 'event', event })),
      });
    }
    case 'withdraw': {
      const leftRaw = state.spendableRaw;
      const posting = withdrawPosting(operation.agentId, operation.reference, leftRaw);
      const delta = { ...NOTHING, spendableRaw: -leftRaw, consumedRaw: leftRaw };
      return changed({ posting, delta }, leftRaw);
    }
  }
}

function changed(change: Partial<Change>, leftRaw = 0n, shortfallRaw = 0n): Decision {
  return {
    kind: 'change',
    change: {
      probe: false,
      posting: change.posting ?? null,
      delta: change.delta ?? NOTHING,
      hold: change.hold ?? null,
      guard: change.guard ?? null,
      companions: change.companions ?? NO_ROWS,
    },
    leftRaw,
    shortfallRaw,
  };
}

const refused = (refusal: HoldRefusal, posting: Posting): Decision => ({
  kind: 'refused',
  refusal,
  change: { probe: true, posting, delta: NOTHING, hold: null, guard: null, companions: NO_ROWS },
});

const setAside = (amountRaw: bigint): Delta => ({
  spendableRaw: -amountRaw,
  heldRaw: amountRaw,
  creditedRaw: 0n,
  consumedRaw: 0n,
});

const guardOf = (claim: SessionClaim): Guard => ({
  row: 'session',
  id: claim.sessionId,
  epoch: claim.epoch,
});

function decideHold(state: BalanceState, operation: HoldOperation, world: World): Decision {
  const { agentId, holdId, amountRaw, session } = operation;
  const refusal = refusalOf(world.rules, {
    keyId: operation.spender.keyId,
    amountRaw,
    spendableRaw: state.spendableRaw,
    nowSec: world.nowSec,
  });
  const posting = holdPosting(agentId, holdId, amountRaw);
  if (refusal !== undefined) return refused(refusal, posting);
  return changed({
    posting,
    delta: setAside(amountRaw),
    hold: { holdId, fromRaw: null, toRaw: amountRaw, sessionId: session?.sessionId ?? null },
    companions: session === null ? NO_ROWS : [{ row: 'session.opened', session }],
  });
}

function decideExtend(state: BalanceState, operation: ExtendOperation, world: World): Decision {
  const { agentId, claim, byRaw } = operation;
  const refusal = refusalOf(world.rules, {
    keyId: undefined,
    amountRaw: byRaw,
    spendableRaw: state.spendableRaw,
    nowSec: world.nowSec,
  });
  const { holdId, amountRaw: fromRaw } = claim.hold;
  const posting = extendPosting(agentId, { holdId, fromRaw }, byRaw);
  if (refusal !== undefined) return refused(refusal, posting);
  return changed({
    posting,
    delta: setAside(byRaw),
    hold: { holdId, fromRaw, toRaw: fromRaw + byRaw, sessionId: claim.sessionId },
    guard: guardOf(claim),
  });
}

function decideSettle(state: BalanceState, operation: SettleOperation, world: World): Decision {
  const { agentId, hold, request, ends } = operation;
  const heldRaw = world.openHolds.get(hold.holdId) ?? hold.amountRaw;
  const settled = settlePosting({
    agentId,
    holdId: hold.holdId,
    heldRaw,
    actualRaw: request.actualRaw,
    spendableRaw: state.spendableRaw,
    account: request.account,
    source: request.source,
  });
  const companions: Companion[] = [];
  if (request.charge) {
    companions.push({ row: 'charge', charge: request.charge(settled.chargedRaw) });
  }
  for (const event of request.events ?? []) companions.push({ row: 'event', event });
  if (ends !== null) {
    const { sessionId } = ends.claim;
    companions.push({ row: 'session.ended', sessionId, reason: ends.reason });
  }
  return changed(
    {
      posting: settled.posting,
      delta: {
        spendableRaw: settled.returnedRaw - settled.beyondRaw,
        heldRaw: -heldRaw,
        creditedRaw: 0n,
        consumedRaw: settled.chargedRaw,
      },
      hold: {
        holdId: hold.holdId,
        fromRaw: heldRaw,
        toRaw: null,
        sessionId: ends?.claim.sessionId ?? null,
      },
      guard: ends === null ? null : guardOf(ends.claim),
      companions,
    },
    settled.chargedRaw,
    settled.shortfallRaw,
  );
}

function decideJournal(operation: JournalOperation): Decision {
  const { sessionId, epoch } = operation.claim;
  return changed({
    guard: guardOf(operation.claim),
    companions: operation.entries.map((entry) => ({ row: 'journal', sessionId, epoch, entry })),
  });
}
