import { z } from 'zod';
import { ApiError } from '../../kernel/api-error.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { CALL_OVERRIDES_SHAPE, readCallOverrides } from '../voice/call-overrides.ts';
import type { Recipient } from './batch.ts';
import type { RefusedRecipient } from './errors.ts';

/** Schema of one recipient in the request body of a batch. */
export const RECIPIENT_SHAPE = z.object({ to: z.string().max(32), ...CALL_OVERRIDES_SHAPE });

export type ReadRecipients = {
  /** Accepted recipients by their index in the request. */
  readonly recipients: ReadonlyMap<number, Recipient>;
  readonly refused: readonly RefusedRecipient[];
};

/** Reads each recipient on its own, a few in each turn of the event loop. A number that is named twice is refused. */
export async function readRecipients(given: readonly unknown[]): Promise<ReadRecipients> {
  const recipients = new Map<number, Recipient>();
  const refused: RefusedRecipient[] = [];
  const first = new Map<string, number>();
  for (const [index, value] of given.entries()) {
    if (index % PHONE_LIMITS.batch.perTurn === 0) await turnForLongWork();
    const read = readRecipient(value);
    if ('error' in read) {
      refused.push({ index, ...read });
      continue;
    }
    const { to } = read;
    const earlier = first.get(to);
    if (earlier === undefined) {
      first.set(to, index);
      recipients.set(index, read);
      continue;
    }
    const message = `to: the recipient at index ${earlier} has the same number.`;
    refused.push({ index, to, error: 'duplicate_recipient', message });
  }
  return { recipients, refused };
}

function readRecipient(value: unknown): Recipient | Omit<RefusedRecipient, 'index'> {
  const parsed = RECIPIENT_SHAPE.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join('.');
    const message = `${place ? `${place}: ` : ''}${issue?.message ?? 'is wrong'}.`;
    return { to: numberOf(value), error: 'invalid_recipient', message };
  }
  const { to } = parsed.data;
  try {
    return { to, overrides: readCallOverrides(parsed.data) };
  } catch (error) {
    return { to, ...refusalOf(error) };
  }
}

/** Returns the wire error and the message of a refusal. Rethrows every other error. */
export function refusalOf(error: unknown): Pick<RefusedRecipient, 'error' | 'message'> {
  if (!(error instanceof ApiError)) throw error;
  return { error: error.error, message: String(error.fields.message) };
}

function numberOf(value: unknown): string | null {
  const to = typeof value === 'object' && value !== null && 'to' in value ? value.to : null;
  return typeof to === 'string' ? to.slice(0, 32) : null;
}
