import { z } from 'zod';
import { isStorable } from '../../../kernel/storable.ts';

/** Provider name from the path. `ProviderKeys` checks the name and lists the valid names in its error. */
export const ProviderParams = z.object({
  provider: z.string().refine(isStorable, { message: 'must name a provider' }),
});

/** A stored provider key, without the key. */
export const ProviderKeyRecord = z.object({
  provider: z.string(),
  keyPrefix: z.string(),
  label: z.string().nullable(),
  enabled: z.boolean(),
  createdBy: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
