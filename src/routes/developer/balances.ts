import { z } from 'zod';
import type { Developers } from '../../accounts/management/developers.ts';
import { ok, route } from '../../http/route/route.ts';

/** Reads the balances of the account's wallet, of the agents' wallets and of the prepaid credits. */
export const developerBalances = route<{ developers: Developers }>()({
  method: 'GET',
  path: '/v1/developer/balances',
  credential: 'management',
  summary: 'Wallet balances and prepaid credits of the account',
  response: z.object({
    developerWalletBalanceRaw: z.string(),
    agentWalletsBalanceRaw: z.string(),
    apiCreditsAvailableRaw: z.string(),
    currency: z.literal('USDC'),
    decimals: z.literal(6),
  }),

  async handle({ caller, services }) {
    return ok(await services.developers.balances(caller.accountId));
  },
});
