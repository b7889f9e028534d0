import { planCashOut } from '../../../machines/cash-out.ts';
import { inAccountOrder } from '../../accounts/developers/in-account-order.ts';
import { ApiError } from '../../kernel/api-error.ts';
import { assert } from '../../kernel/assert.ts';
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { rampErrors, transferErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { Payouts } from '../payouts/payouts.ts';
import type { Ramp } from '../ramp/ramp.ts';
import { planRoute, type TransferRoute } from '../transfers/plan-transfer.ts';
import {
  addTransfer,
  newTransfer,
  type PrepareDeps,
  requireCovered,
} from '../transfers/prepare-transfer.ts';
import type { NewTransfer } from '../transfers/transfer.ts';
import type { NewCashOut, SourceKind } from './cash-out.ts';
import { countOpenCashOuts, insertCashOut } from './cash-out-store.ts';
import { type FollowDeps, writeLeg } from './follow-cash-out.ts';
import { NO_PAGE, openPage, type Page, type Visitor } from './open-page.ts';

export type StartDeps = PrepareDeps &
  FollowDeps & {
    readonly ledger: PrepareDeps['ledger'] & FollowDeps['ledger'];
    readonly payouts: Pick<Payouts, 'payNow'>;
  };

export type CashOutRequest = {
  readonly sourceKind: SourceKind;
  readonly agentId: number;
  readonly amountRaw: bigint;
};

/**
 * Starts an order and returns its reference, with the provider's page when the USDC is in the developer's wallet already. From the
 * wallet of an agent, the amount is withdrawn and paid to the developer's wallet first.
 */
export async function startCashOut(
  deps: StartDeps,
  visitor: Visitor,
  request: CashOutRequest,
): Promise<{ readonly ref: string; readonly page: Page }> {
  const { accountId } = visitor;
  const { agentId, amountRaw, sourceKind } = request;
  const direction = sourceKind === 'agent_wallet' ? 'from_agent' : 'to_agent';
  const known = { sql: deps.sql, usdc: deps.terms.usdc };
  const route = await planRoute(known, accountId, { direction, agentId, amountRaw });
  const { ramp } = deps;
  if (ramp === undefined) throw rampErrors.notConfigured();
  if (direction === 'from_agent' && !deps.canPay) throw transferErrors.unavailable();
  await requireCovered(deps, direction, route, amountRaw);
  const ref = newId(deps.random, 'co_');
  const order = { ref, accountId, sourceKind, agentId, requestedRaw: amountRaw } as const;
  return direction === 'from_agent'
    ? startFromAgent(deps, order, route)
    : startFromOwner(deps, visitor, order, { ramp, ownerAddress: route.fromAddress });
}

type Begun = Pick<NewCashOut, 'ref' | 'accountId' | 'sourceKind' | 'agentId' | 'requestedRaw'>;

async function startFromAgent(
  deps: StartDeps,
  order: Begun,
  route: TransferRoute,
): Promise<{ readonly ref: string; readonly page: Page }> {
  const { accountId, ref, requestedRaw: amountRaw } = order;
  const { fromAddress: agentWallet, toAddress: ownerAddress } = route;
  const fields = {
    ...route,
    accountId,
    amountRaw,
    direction: 'from_agent',
    onrampId: null,
  } as const;
  const transfer = newTransfer(deps.random, fields);
  const { id: transferId } = transfer;
  const begun = { ...order, state: 'created', ownerAddress, agentWallet, transferId } as const;
  await save(deps.sql, begun, transfer);
  try {
    await writeLeg(deps, begun);
  } catch (err) {
    // The order is saved and goes on by itself. After an error the client would start a second order.
    if (!(err instanceof ApiError) || err.status !== 503) throw err;
    deps.log.warn({ err, ref }, 'the first leg of a cash-out is written later');
    return { ref, page: NO_PAGE };
  }
  await deps.payouts.payNow(route.agentId);
  return { ref, page: NO_PAGE };
}

async function startFromOwner(
  { sql }: StartDeps,
  visitor: Visitor,
  order: Begun,
  at: { readonly ramp: Ramp; readonly ownerAddress: string },
): Promise<{ readonly ref: string; readonly page: Page }> {
  const { ramp, ownerAddress } = at;
  // Makes the token first: an order without a page is not saved.
  const page = await openPage(ramp, visitor, { ...order, ownerAddress });
  const state = planCashOut('created', 'leg.seen');
  assert(state !== undefined, 'an order begins');
  await save(sql, { ...order, state, ownerAddress, agentWallet: null, transferId: null });
  return { ref: order.ref, page };
}

/** Saves an order with its first leg, unless the account has too many open ones. */
async function save(sql: Sql, order: NewCashOut, transfer?: NewTransfer): Promise<void> {
  const { accountId } = order;
  await inAccountOrder(sql, accountId, async (tx) => {
    const { openPerAccount } = PAYMENT_LIMITS.cashOut;
    if ((await countOpenCashOuts(tx, accountId)) >= openPerAccount) {
      throw rampErrors.tooManyOrders(openPerAccount);
    }
    if (transfer !== undefined) await addTransfer(tx, transfer);
    await insertCashOut(tx, order);
  });
}
