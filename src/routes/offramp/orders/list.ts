import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { CashOuts } from '../../../payments/cash-outs/cash-outs.ts';
import { rampErrors } from '../../../payments/errors.ts';
import { PAYMENT_LIMITS } from '../../../payments/limits.ts';
import { Limit } from '../../transfers/page-limit.ts';
import { Order } from '../order-shape.ts';

/** Pattern of a cursor: the id of the last order on the previous page. */
const CURSOR = /^[1-9]\d{0,14}$/;

/** Lists the account's cash-outs, newest first. */
export const listCashOuts = route<{ cashOuts: CashOuts }>()({
  method: 'GET',
  path: '/v1/offramp/orders',
  credential: 'management',
  summary: 'List cash-outs',
  query: z.object({
    cursor: z.string().optional(),
    limit: Limit(PAYMENT_LIMITS.cashOut.page.usual),
  }),
  response: z.object({ orders: z.array(Order), nextCursor: z.number().int().nullable() }),

  async handle({ caller, query: { cursor, limit }, services }) {
    if (cursor !== undefined && !CURSOR.test(cursor)) throw rampErrors.invalidCursor();
    const page = { limit, cursor: cursor === undefined ? undefined : Number(cursor) };
    return ok(await services.cashOuts.list(caller.accountId, page));
  },
});
