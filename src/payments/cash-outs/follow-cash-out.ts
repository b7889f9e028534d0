import { type CashOutEvent, planCashOut } from '../../../machines/cash-out.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Ramp } from '../ramp/ramp.ts';
import type { Sale } from '../ramp/sale.ts';
import { findTransfer } from '../transfers/transfer-store.ts';
import {
  requireWithdrawn,
  type WithdrawDeps,
  withdrawTransfer,
} from '../transfers/withdraw-transfer.ts';
import type { CashOut } from './cash-out.ts';
import { type ClaimedCashOut, claimCashOuts, type Learnt, moveCashOut } from './cash-out-store.ts';

export type FollowDeps = WithdrawDeps & {
  readonly sql: Sql;
  /** Undefined while no provider is configured: orders then follow their first leg and their deadlines alone. */
  readonly ramp: Ramp | undefined;
  readonly log: Log;
};

/** Follows a bounded batch of open orders. An order that fails is followed again later; the others go on. */
export async function followCashOuts(deps: FollowDeps): Promise<void> {
  const claimed = await claimCashOuts(deps.sql);
  // All at once, so that an order which needs no provider waits for none.
  await Promise.all(
    claimed.map(async (order) => {
      try {
        await follow(deps, order);
      } catch (err) {
        const { ref, state } = order;
        deps.log.warn({ err, ref, state }, 'a cash-out could not be followed');
      }
    }),
  );
}

async function follow(deps: FollowDeps, order: ClaimedCashOut): Promise<void> {
  const { state } = order;
  if (state === 'created') return await writeLeg(deps, order);
  if (state === 'leg1_pending') return void (await followLeg(deps, order));
  const sale = await findSale(deps, order).catch((err: unknown) => {
    // The user has sent nothing yet, so that the deadline holds whatever the provider answers.
    if (!order.isOverdue || state !== 'awaiting_form') throw err;
    return undefined;
  });
  if (sale !== undefined && (await step(deps, order, sale.event, learntFrom(sale)))) return;
  if (order.isOverdue) await step(deps, order, 'deadline.passed', { failureReason: LATE });
}

const LATE = 'Nothing happened in the time of this status.';

/**
 * Withdraws the amount of an order in the ledger and plans the payout to the developer's wallet. May be repeated, by any process.
 * Throws 409, and ends the order, when the balance has become too small.
 */
export async function writeLeg(
  deps: FollowDeps,
  order: Pick<CashOut, 'ref' | 'state' | 'transferId' | 'accountId'>,
): Promise<void> {
  const { accountId, transferId: id } = order;
  const transfer = id === null ? undefined : await findTransfer(deps.sql, { id, accountId });
  if (transfer === undefined) return;
  if (transfer.state === 'expired') {
    await step(deps, order, 'leg.refused', { failureReason: TOO_LATE });
    return;
  }
  const verdict = await withdrawTransfer(deps, transfer);
  if (verdict.kind === 'withdrawn') await step(deps, order, 'leg.written');
  else await step(deps, order, 'leg.refused', { failureReason: TOO_LITTLE });
  requireWithdrawn(transfer, verdict);
}

const TOO_LATE = 'The withdrawal was not written in time; nothing was moved.';
const TOO_LITTLE = 'The balance had become too small for the withdrawal.';

/** Moves an order on when the chain shows its first leg. Returns whether it moved. */
export async function followLeg(
  deps: Pick<FollowDeps, 'sql'>,
  order: Pick<CashOut, 'ref' | 'state' | 'transferId' | 'accountId'>,
): Promise<boolean> {
  const { accountId, transferId: id } = order;
  const transfer = id === null ? undefined : await findTransfer(deps.sql, { id, accountId });
  return transfer?.state === 'completed' && step(deps, order, 'leg.seen');
}

/** Returns the order's sale at the provider: the known one, else the newest. Undefined while there is none. */
async function findSale({ ramp }: FollowDeps, { ref, saleId }: CashOut): Promise<Sale | undefined> {
  const sales = (await ramp?.sales(ref)) ?? [];
  const sale = saleId === null ? sales[0] : sales.find(({ id }) => id === saleId);
  // Without an address the user cannot send yet.
  return sale?.event === 'sale.opened' && sale.depositAddress === null ? undefined : sale;
}

const learntFrom = ({ id, depositAddress, amountRaw, fiat, event }: Sale): Learnt => ({
  saleId: id,
  depositAddress,
  fiatEstimate: fiat,
  ...(event === 'sale.completed' && { finalRaw: amountRaw }),
  ...(event === 'sale.failed' && { failureReason: 'The provider reports that the sale failed.' }),
  ...(event === 'sale.expired' && { failureReason: 'The sale at the provider has expired.' }),
});

async function step(
  { sql }: Pick<FollowDeps, 'sql'>,
  { ref, state: from }: Pick<CashOut, 'ref' | 'state'>,
  event: CashOutEvent,
  learnt: Learnt = {},
): Promise<boolean> {
  const to = planCashOut(from, event);
  return to !== undefined && moveCashOut(sql, ref, { from, to }, learnt);
}
