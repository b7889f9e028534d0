import { maxRaw, minRaw } from '../../kernel/amount.ts';
import { reservedRaw } from './admit.ts';
import { correctPosting, markPosting, withdrawPosting } from './build-postings.ts';
import type { BalanceState, Companion, Guard } from './change.ts';
import { callKeyOf } from './companion.ts';
import { countCorrected, countSettled } from './count.ts';
import { changed, type Decision, type DecisionContext, NOTHING, refused } from './decision.ts';
import {
  type AdvanceOperation,
  type CorrectOperation,
  factsOfCall,
  type PaidOperation,
  type ReportOperation,
  type SweepOperation,
  type WithdrawOperation,
} from './operation.ts';
import type { ReservationMove } from './payment.ts';

/** Returns the USDC of the wallet that is not promised. Negative when more was signed away than came in. */
export const walletFreeRaw = ({ walletRaw, promisedRaw }: BalanceState): bigint =>
  walletRaw - promisedRaw;

type ReservationGuard = Extract<Guard, { row: 'reservation' }>;

/** Returns the guard of a move: the row must still be in the state in which the move starts. */
export const moveGuard = ({ nonce, from }: ReservationMove): ReservationGuard => ({
  row: 'reservation',
  id: nonce,
  state: from,
  doneAt: null,
});

export const movedRow = (
  move: ReservationMove,
  how: { readonly decided: boolean; readonly corrected: boolean },
): Companion => ({ row: 'reservation.moved', move, ...how });

export const decideAdvance = ({ move }: AdvanceOperation): Decision =>
  changed({
    // The move has no posting by which a repeat could be recognised, so the guard recognises it.
    guard: { ...moveGuard(move), doneAt: move.to },
    companions: [movedRow(move, { decided: false, corrected: false })],
  });

/**
 * Decides a withdrawal. Without an amount the whole spendable balance leaves the ledger; on chain, only the part that the
 * wallet backs is paid out.
 */
export function decideWithdraw(
  state: BalanceState,
  operation: WithdrawOperation,
  world: DecisionContext,
): Decision {
  const { agentId, amountRaw, reference, payout } = operation;
  if (amountRaw !== undefined) return decideTransfer(state, { ...operation, amountRaw }, world);
  const leftRaw = state.spendableRaw;
  const freeRaw = walletFreeRaw(state);
  const backedRaw = minRaw(freeRaw, leftRaw);
  const paidRaw = payout !== null && backedRaw > 0n ? backedRaw : 0n;
  return changed(
    {
      posting: withdrawPosting(agentId, reference, leftRaw),
      delta: { ...NOTHING, spendableRaw: -leftRaw, consumedRaw: leftRaw, promisedRaw: paidRaw },
      companions:
        payout === null || paidRaw === 0n
          ? []
          : [{ row: 'payout.planned', agentId, payout, amountRaw: paidRaw }],
    },
    leftRaw,
  );
}

/** Returns the amount that may leave the wallet: spendable, not kept for a task, and backed by the wallet's free USDC. */
function withdrawableRaw(
  state: BalanceState,
  { rules, position }: Pick<DecisionContext, 'rules' | 'position'>,
): bigint {
  const keptRaw = reservedRaw(rules, state.counters, position, null);
  return maxRaw(0n, minRaw(state.spendableRaw - keptRaw, walletFreeRaw(state)));
}

function decideTransfer(
  state: BalanceState,
  { agentId, amountRaw, reference, payout }: WithdrawOperation & { readonly amountRaw: bigint },
  world: DecisionContext,
): Decision {
  const posting = withdrawPosting(agentId, reference, amountRaw, amountRaw);
  const availableRaw = withdrawableRaw(state, world);
  if (amountRaw > availableRaw) {
    return refused(
      { reason: 'insufficient_balance', availableRaw, requiredRaw: amountRaw },
      posting,
    );
  }
  return changed(
    {
      posting,
      delta: {
        ...NOTHING,
        spendableRaw: -amountRaw,
        consumedRaw: amountRaw,
        promisedRaw: payout === null ? 0n : amountRaw,
      },
      companions: payout === null ? [] : [{ row: 'payout.planned', agentId, payout, amountRaw }],
    },
    amountRaw,
  );
}

/** Plans the payout of the USDC in a wallet that neither its agent nor a payee of its open payments may claim. */
export function decideSweep(state: BalanceState, operation: SweepOperation): Decision {
  const { agentId, payout, leastRaw } = operation;
  // Money held for payments is also promised, so it is subtracted twice here. The next sweep pays out the remaining amount.
  const freeRaw = walletFreeRaw(state) - state.spendableRaw - state.heldRaw;
  if (freeRaw < leastRaw || freeRaw <= 0n) return changed({});
  return changed({
    posting: markPosting(`sweep:${payout.nonce}`, 'wallet.sweep', 0n),
    delta: { ...NOTHING, promisedRaw: freeRaw },
    companions: [{ row: 'payout.planned', agentId, payout, amountRaw: freeRaw }],
  });
}

export function decidePaid({ nonce, amountRaw, txHash }: PaidOperation): Decision {
  return changed({
    posting: markPosting(`paid:${nonce}`, 'wallet.paid', amountRaw),
    delta: { ...NOTHING, walletRaw: -amountRaw, promisedRaw: -amountRaw },
    companions: [{ row: 'payout.done', nonce, txHash }],
  });
}

/** Debits a payment that was released, up to the spendable balance. The remaining amount is a shortfall. */
export function decideCorrect(
  state: BalanceState,
  operation: CorrectOperation,
  { rules, position }: DecisionContext,
): Decision {
  const { agentId, amountRaw, facts, move, charge } = operation;
  const chargedRaw = minRaw(amountRaw, state.spendableRaw);
  return changed(
    {
      posting: correctPosting(agentId, move.nonce, { amountRaw, chargedRaw }),
      delta: {
        ...NOTHING,
        spendableRaw: -chargedRaw,
        consumedRaw: chargedRaw,
        walletRaw: -amountRaw,
      },
      guard: moveGuard(move),
      ...(charge !== null && {
        count: countSettled(rules, facts, position, { heldRaw: 0n, chargedRaw }),
      }),
      companions: [
        ...(charge === null ? [] : [{ row: 'charge', charge: charge(chargedRaw) } as const]),
        movedRow(move, { decided: false, corrected: true }),
      ],
    },
    chargedRaw,
    amountRaw - chargedRaw,
  );
}

/**
 * Decides the report of a call that was paid elsewhere: the counters and the rows of the call change, and no balance. The
 * posting has the number of the report in its id, so of two processes that read the same row only one writes.
 */
export function decideReport(
  { agentId, before, call, events }: ReportOperation,
  { rules, position }: DecisionContext,
): Decision {
  const facts = factsOfCall(call);
  const byRaw = call.costRaw - (before?.costRaw ?? 0n);
  const countedAtMs = before?.countedAtMs ?? Math.floor(position.nowMs);
  const count =
    before === null
      ? countSettled(rules, facts, position, { heldRaw: 0n, chargedRaw: byRaw })
      : countCorrected(rules, facts, { countedAtMs, byRaw });
  const revision = (before?.revision ?? 0) + 1;
  const id = `report:${agentId}:${revision}:${callKeyOf(call)}`;
  return changed({
    posting: markPosting(id, 'platform.report', call.costRaw),
    count,
    companions: [
      {
        row: 'platform.call',
        call,
        revision,
        byRaw,
        isFirst: before === null,
        countedAtMs,
        corrects: before === null ? [] : (count?.team ?? []),
      },
      ...events.map((event) => ({ row: 'event', event }) as const),
    ],
  });
}
