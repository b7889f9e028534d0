import { mayRetryAfter, NO_RETRY, refusal } from '../../kernel/refusal.ts';

/** Why one recipient of a batch cannot be called. */
export type RefusedRecipient = {
  /** The place in the list of the request, from 0. */
  readonly index: number;
  readonly to: string | null;
  readonly error: string;
  readonly message: string;
};

/** Refusals of batches of calls. */
export const batchErrors = {
  /** Refuses a batch for its recipients. `recipients` names the first ones of all `refused`. */
  recipientsRefused: (recipients: readonly RefusedRecipient[], refused: number) =>
    refusal(
      400,
      'recipients_refused',
      `${refused} of the recipients cannot be called, the first of them at index ${recipients[0]?.index}: ${recipients[0]?.message} Nobody was called.`,
      { refused, recipients },
    ),
  invalidStart: (days: number) =>
    refusal(400, 'invalid_start', `startAt: at most ${days} days from now.`),
  tooManyAtOnce: (maxConcurrent: number, limit: number) =>
    refusal(
      400,
      'max_concurrent_too_high',
      `maxConcurrent is ${maxConcurrent}; this agent may have ${limit} calls at a time. Lower it or leave it out.`,
      { limit },
    ),
  tooManyBatches: (limit: number) =>
    refusal(
      429,
      'batch_limit',
      `This agent has ${limit} batches that are not over, and may have no more.`,
      { limit },
      mayRetryAfter(60),
    ),
  notFound: () => refusal(404, 'not_found', 'There is no such batch.'),
  isOver: (status: string) =>
    refusal(409, 'batch_over', `The batch is ${status}; it calls nobody any more.`, {}, NO_RETRY),
  /** Refuses a call whose batch was stopped, or taken over by another process, before the row of the call was written. */
  stopped: () =>
    refusal(
      409,
      'batch_stopped',
      'The batch of this call does not place it any more.',
      {},
      NO_RETRY,
    ),
};
