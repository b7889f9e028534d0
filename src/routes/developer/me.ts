import { z } from 'zod';
import { ACCOUNT_LIMITS } from '../../accounts/limits.ts';
import type { Developers } from '../../accounts/management/developers.ts';
import { ok, route } from '../../http/route/route.ts';
import { isStorable } from '../../kernel/storable.ts';

const DisplayName = z
  .string()
  .trim()
  .min(1)
  .max(ACCOUNT_LIMITS.displayNameChars)
  .refine((name) => isStorable(name) && !/\p{Cc}/u.test(name), {
    message: 'must hold no control characters and no half characters',
  });

/** Renames the account. */
export const changeAccount = route<{ developers: Developers }>()({
  method: 'PATCH',
  path: '/v1/developer/me',
  credential: 'management',
  summary: 'Rename the account',
  right: 'account',
  body: z.object({ displayName: DisplayName }),
  response: z.object({
    developer: z.object({
      walletAddress: z.string(),
      displayName: z.string().nullable(),
      accountId: z.string(),
    }),
  }),

  async handle({ body, caller, services }) {
    return ok({ developer: await services.developers.rename(caller.accountId, body.displayName) });
  },
});
