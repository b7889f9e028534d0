import { z } from 'zod';
import type { Admin } from '../../../accounts/management/admin.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AdminBalance } from '../agents/admin-shape.ts';

/** Returns the balance of the agent with a given wallet address. */
export const adminBalance = route<{ admin: Admin }>()({
  method: 'GET',
  path: '/v1/admin/balances/:address',
  credential: 'admin',
  summary: "An agent's balance by its wallet",
  params: z.object({ address: z.string() }),
  response: AdminBalance,

  async handle({ params, services }) {
    return ok(await services.admin.balance(params.address));
  },
});
