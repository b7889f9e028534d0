import { z } from 'zod';

/** Profile of a developer, in the form that the developer gets. */
export const DeveloperRecord = z.object({
  walletAddress: z.string(),
  displayName: z.string().nullable(),
  email: z.string().nullable(),
  accountId: z.string(),
  createdAt: z.string(),
});
