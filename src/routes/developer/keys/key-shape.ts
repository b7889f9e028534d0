import { z } from 'zod';
import { ACCOUNT_LIMITS } from '../../../accounts/limits.ts';
import { requestErrors } from '../../../http/route/errors.ts';
import { isStorable } from '../../../kernel/storable.ts';

/** Members of a request for a key of either kind, developer or agent. */
export const keyRequest = {
  label: z
    .string()
    .max(ACCOUNT_LIMITS.key.labelChars)
    .refine(isStorable, { message: 'may hold no NUL and no half of a surrogate pair' })
    .nullish(),
  permissions: z.enum(['read', 'read_write']).optional(),
};

const expiresAt = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .nullish();

/** The specification has its own error for a bad body here, so the handler refuses an undefined body. */
export const DeveloperKeyBody = z
  .object({ ...keyRequest, expiresAt })
  .or(z.unknown().transform((): undefined => undefined));

export const requireKeyBody = <T>(body: T | undefined): T => {
  if (body === undefined) throw unreadableKeyBody();
  return body;
};

export const unreadableKeyBody = (): Error =>
  requestErrors.invalidBody(
    `Send JSON: label (a string of at most ${ACCOUNT_LIMITS.key.labelChars} characters), permissions (read or read_write), expiresAt (an ISO 8601 time).`,
  );

/** A developer key. The secret, `key`, is present only in the response that creates the key. */
export const DeveloperKeyRecord = z.object({
  id: z.number(),
  keyId: z.string(),
  keyPrefix: z.string(),
  prefix: z.string(),
  label: z.string().nullable(),
  permissions: z.enum(['read', 'read_write']),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
});
