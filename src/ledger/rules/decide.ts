import { MAX_RAW } from '../../kernel/amount.ts';
import { refusalOf } from './admit.ts';
import {
  creditPosting,
  extendPosting,
  holdPosting,
  settlePosting,
  shrinkPosting,
} from './build-postings.ts';
import type { BalanceState, Companion, Delta, Guard } from './change.ts';
import { countHeld, countSettled } from './count.ts';
import {
  decideAdvance,
  decideCorrect,
  decidePaid,
  decideReport,
  decideSweep,
  decideWithdraw,
  movedRow,
  moveGuard,
  walletFreeRaw,
} from './decide-payment.ts';
import {
  changed,
  type Decision,
  type DecisionContext,
  NO_ROWS,
  NOTHING,
  refused,
} from './decision.ts';
import {
  type ExtendOperation,
  factsOf,
  type HoldOperation,
  type JournalOperation,
  type Operation,
  type SettleOperation,
  type ShrinkOperation,
  type SuspendOperation,
} from './operation.ts';
import type { SessionClaim } from './requests.ts';
import { agentSuspended } from './spend-events.ts';

/** Decides one operation on `state`. Pure: the caller applies the change and passes the new state with the next operation. */
export function decide(
  state: BalanceState,
  operation: Operation,
  world: DecisionContext,
): Decision {
  switch (operation.kind) {
    case 'hold':
      return decideHold(state, operation, world);
    case 'extend':
      return decideExtend(state, operation, world);
    case 'shrink':
      return decideShrink(operation, world);
    case 'settle':
      return decideSettle(operation, world);
    case 'journal':
      return decideJournal(operation);
    case 'suspend':
      return decideSuspend(operation, world);
    case 'credit': {
      const { act, agentId, amountRaw, reference, deposit } = operation;
      const walletRaw = deposit ? amountRaw : 0n;
      const posting = creditPosting(agentId, reference, amountRaw, deposit);
      if (state.creditedRaw + amountRaw > MAX_RAW) {
        return refused({ reason: 'balance_full' }, posting);
      }
      return changed({
        posting,
        delta: { ...NOTHING, spendableRaw: amountRaw, creditedRaw: amountRaw, walletRaw },
        companions: [
          ...operation.events.map((event) => ({ row: 'event' as const, event })),
          ...(act === undefined ? [] : [{ row: 'admin.act' as const, act }]),
        ],
      });
    }
    case 'withdraw':
      return decideWithdraw(state, operation, world);
    case 'advance':
      return decideAdvance(operation);
    case 'sweep':
      return decideSweep(state, operation);
    case 'paid':
      return decidePaid(operation);
    case 'correct':
      return decideCorrect(state, operation, world);
    case 'report':
      return decideReport(operation, world);
  }
}

const setAside = (amountRaw: bigint): Delta => ({
  ...NOTHING,
  spendableRaw: -amountRaw,
  heldRaw: amountRaw,
});

const guardOf = (claim: SessionClaim): Guard => ({
  row: 'session',
  id: claim.sessionId,
  epoch: claim.epoch,
});

function decideHold(
  state: BalanceState,
  operation: HoldOperation,
  world: DecisionContext,
): Decision {
  const { agentId, holdId, amountRaw, session, reservation, spender } = operation;
  const { rules, position } = world;
  const facts = factsOf(operation);
  const taskValueBps = operation.spender.taskValueBps ?? null;
  const demand = {
    keyId: spender.keyId,
    amountRaw,
    facts,
    taskValueBps,
    spendableRaw: state.spendableRaw,
    counters: state.counters,
    isOperators: operation.destination.isOperators,
    walletFreeRaw: reservation === null ? undefined : walletFreeRaw(state),
  };
  const refusal = refusalOf(rules, demand, position);
  const posting = holdPosting(agentId, holdId, amountRaw, reservation?.nonce);
  if (refusal !== undefined) return refused(refusal, posting);
  return changed({
    posting,
    delta:
      reservation === null
        ? setAside(amountRaw)
        : { ...setAside(amountRaw), promisedRaw: amountRaw },
    hold: { holdId, fromRaw: null, toRaw: amountRaw, sessionId: session?.sessionId ?? null, facts },
    count: countHeld(rules, facts, amountRaw, { position, taskValueBps }),
    companions: rowsOfHold(operation),
  });
}

function rowsOfHold({
  holdId,
  amountRaw: valueRaw,
  session,
  reservation,
  spender,
}: HoldOperation): readonly Companion[] {
  if (session !== null) return [{ row: 'session.opened', session }];
  if (reservation === null) return NO_ROWS;
  return [{ row: 'reservation.opened', reservation, holdId, spender, valueRaw }];
}

function decideExtend(
  state: BalanceState,
  operation: ExtendOperation,
  world: DecisionContext,
): Decision {
  const { agentId, claim, byRaw, lentHoldId } = operation;
  const { rules, position } = world;
  const { taskValueBps = null } = claim;
  const { holdId, amountRaw: fromRaw, facts } = claim.hold;
  const { spendableRaw, counters } = state;
  const demand = {
    keyId: claim.keyId,
    amountRaw: byRaw,
    facts,
    taskValueBps,
    spendableRaw,
    counters,
  };
  const refusal = refusalOf(rules, demand, position);
  const posting = extendPosting(agentId, { holdId, fromRaw }, byRaw, lentHoldId);
  if (refusal !== undefined) return refused(refusal, posting);
  return changed({
    posting,
    delta: setAside(byRaw),
    hold: { holdId, fromRaw, toRaw: fromRaw + byRaw, sessionId: claim.sessionId, facts },
    count: countHeld(rules, facts, byRaw, { position, taskValueBps }),
    guard: guardOf(claim),
  });
}

function decideShrink(
  { agentId, claim, byRaw, forHoldId, isLoan = false }: ShrinkOperation,
  { rules, position }: DecisionContext,
): Decision {
  const { epoch, shrinks = 0 } = claim;
  const { holdId, amountRaw: fromRaw, facts } = claim.hold;
  const shrinking = { holdId, fromRaw, epoch, shrinks };
  return changed({
    posting: shrinkPosting(agentId, shrinking, byRaw, isLoan ? forHoldId : undefined),
    delta: setAside(-byRaw),
    hold: { holdId, fromRaw, toRaw: fromRaw - byRaw, sessionId: claim.sessionId, facts },
    count: countSettled(rules, facts, position, { heldRaw: byRaw, chargedRaw: 0n }),
    guard: guardOf(claim),
  });
}

function decideSettle(operation: SettleOperation, world: DecisionContext): Decision {
  const { agentId, hold, request, ends, move } = operation;
  const heldRaw = world.openHolds.get(hold.holdId) ?? hold.amountRaw;
  const settled = settlePosting({
    agentId,
    holdId: hold.holdId,
    heldRaw,
    actualRaw: request.actualRaw,
    billableRaw: request.billableRaw,
    account: request.account,
    source: request.source,
  });
  const companions: Companion[] = [];
  for (const charge of request.charges?.(settled.chargedRaw) ?? []) {
    companions.push({ row: 'charge', charge });
  }
  for (const event of request.events ?? []) companions.push({ row: 'event', event });
  if (ends !== null) {
    const { claim, ...end } = ends;
    companions.push({ row: 'session.ended', sessionId: claim.sessionId, ...end });
  }
  if (move !== null) companions.push(movedRow(move, { decided: true, corrected: false }));
  return changed(
    {
      posting: settled.posting,
      delta: {
        spendableRaw: settled.returnedRaw,
        heldRaw: -heldRaw,
        creditedRaw: 0n,
        consumedRaw: settled.chargedRaw,
        // A payment consumes its whole hold or nothing of it.
        walletRaw: move === null ? 0n : -request.actualRaw,
        promisedRaw: move === null ? 0n : -heldRaw,
      },
      hold: {
        holdId: hold.holdId,
        fromRaw: heldRaw,
        toRaw: null,
        sessionId: ends?.claim.sessionId ?? null,
        facts: hold.facts,
      },
      count: countSettled(world.rules, hold.facts, world.position, {
        heldRaw,
        chargedRaw: settled.chargedRaw,
      }),
      guard: settleGuard(operation),
      companions,
    },
    settled.chargedRaw,
    settled.shortfallRaw,
  );
}

function settleGuard({ ends, move }: SettleOperation): Guard | null {
  if (ends !== null) return guardOf(ends.claim);
  return move === null ? null : moveGuard(move);
}

function decideJournal(operation: JournalOperation): Decision {
  const { sessionId, epoch } = operation.claim;
  return changed({
    guard: guardOf(operation.claim),
    companions: operation.entries.map((entry) => ({ row: 'journal', sessionId, epoch, entry })),
  });
}

/** Decides a suspension. An agent that is not active keeps the status that its developer set. */
function decideSuspend(
  { agentId, policyId }: SuspendOperation,
  { rules }: DecisionContext,
): Decision {
  if (rules.status !== 'active') return changed({});
  return changed({
    companions: [
      { row: 'agent.suspended', agentId, policyId },
      { row: 'event', event: agentSuspended(rules, agentId, policyId) },
    ],
  });
}
