import { type CashOutEvent, planCashOut } from '../../../machines/cash-out.ts';
import { rampErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { type CashOut, cashOutRecord } from './cash-out.ts';
import { findCashOut, findCashOuts, moveCashOut } from './cash-out-store.ts';
import { followLeg } from './follow-cash-out.ts';
import { NO_PAGE, openPage, type Visitor } from './open-page.ts';
import { type CashOutRequest, type StartDeps, startCashOut } from './start-cash-out.ts';

export type CashOuts = ReturnType<typeof createCashOuts>;

/** Creates the cash-outs of developers. Another account's order reads as absent in every method. */
export function createCashOuts(deps: StartDeps) {
  const { ramp, sql } = deps;

  async function require(accountId: string, ref: string): Promise<CashOut> {
    const order = await findCashOut(sql, { ref, accountId });
    if (order === undefined) throw rampErrors.orderNotFound();
    return order;
  }

  async function move(
    order: CashOut,
    event: CashOutEvent,
    refusal: string,
    sendTxHash: string | null = null,
  ) {
    const { accountId, ref, state: from } = order;
    const to = planCashOut(from, event);
    const isMoved = to !== undefined && (await moveCashOut(sql, ref, { from, to }, { sendTxHash }));
    const present = await require(accountId, ref);
    if (!isMoved) throw rampErrors.wrongStatus(present.state, refusal);
    return { order: cashOutRecord(present) };
  }

  return {
    async start(visitor: Visitor, request: CashOutRequest) {
      const { page, ref } = await startCashOut(deps, visitor, request);
      return { order: cashOutRecord(await require(visitor.accountId, ref)), ...page };
    },

    /** Returns an order and, while the user has to fill the provider's form, a page of it for one visit. */
    async read(visitor: Visitor, ref: string) {
      const { accountId } = visitor;
      let order = await require(accountId, ref);
      if (order.state === 'leg1_pending' && (await followLeg(deps, order))) {
        order = await require(accountId, ref);
      }
      const isOpen = order.state === 'awaiting_form' && visitor.mayAct;
      // The order can be read while the provider is away.
      const page =
        isOpen && ramp ? await openPage(ramp, visitor, order).catch(() => NO_PAGE) : NO_PAGE;
      return { order: cashOutRecord(order), ...page };
    },

    async list(
      accountId: string,
      page: { readonly cursor?: number | undefined; readonly limit: number },
    ) {
      const most = Math.min(Math.max(page.limit, 1), PAYMENT_LIMITS.cashOut.page.most);
      const beforeId = page.cursor ?? Number.MAX_SAFE_INTEGER;
      const found = await findCashOuts(sql, accountId, { beforeId, limit: most + 1 });
      const orders = found.slice(0, most);
      return {
        orders: orders.map(cashOutRecord),
        nextCursor: found.length > most ? (orders.at(-1)?.id ?? null) : null,
      };
    },

    /** Notes the transaction with which the developer has sent the USDC to the provider. */
    async reportSend(accountId: string, ref: string, txHash: string) {
      const order = await require(accountId, ref);
      if (order.sendTxHash === txHash) return { order: cashOutRecord(order) };
      return move(order, 'send.reported', NOT_SENDING, txHash);
    },

    async cancel(accountId: string, ref: string) {
      return move(await require(accountId, ref), 'cancel.requested', NOT_CANCELLED);
    },
  };
}

const NOT_SENDING =
  'A transaction is reported while the order awaits the sending of its USDC. Read the order.';
const NOT_CANCELLED = 'This order cannot be cancelled any more, or not yet. Read the order.';
