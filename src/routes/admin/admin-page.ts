import { z } from 'zod';
import { reportErrors } from '../../reports/errors.ts';

/** Query of a page of the operator's lists. */
export const AdminPage = z.object({
  cursor: z.string().max(128).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

/** Returns the cursor of the page after a row. */
export const adminCursor = (last: string | undefined): string | null =>
  last === undefined ? null : Buffer.from(last).toString('base64url');

/** Reads a cursor whose text has a pattern. Throws the refusal of any other text. */
export function readAdminCursor(text: string | undefined, pattern: RegExp): string | undefined {
  if (text === undefined) return undefined;
  const last = Buffer.from(text, 'base64url').toString('latin1');
  if (!pattern.test(last) || adminCursor(last) !== text) throw reportErrors.invalidCursor();
  return last;
}
