import { z } from 'zod';

/** An account's owner, as the account itself sees them. */
export const DeveloperRecord = z.object({
  walletAddress: z.string(),
  displayName: z.string().nullable(),
  email: z.string().nullable(),
  accountId: z.string(),
  createdAt: z.string(),
});
