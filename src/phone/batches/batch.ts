import type { Random } from '../../kernel/random.ts';
import { randomHex } from '../../kernel/random.ts';
import type { Call, CallValues } from '../calls/call.ts';
import type { CallOrder } from '../calls/opening/order-options.ts';
import type { CallingHours } from '../dialling/calling-hours.ts';
import type { CallOverrides } from '../voice/call-overrides.ts';

/** Outcome of a recipient: of the latest call, or of the end of the batch. */
export const OUTCOMES = [
  'completed',
  'voicemail',
  'busy',
  'no_answer',
  'failed',
  'invalid',
  'refused',
  'canceled',
  'expired',
] as const;
export type RecipientOutcome = (typeof OUTCOMES)[number];

/** The outcomes after which a recipient may be called again. */
export const RETRIED = ['busy', 'no_answer', 'voicemail', 'failed'] as const;
type Retried = (typeof RETRIED)[number];

/** Upper bound of the repeated calls of a recipient over all outcomes, and the wait before each. */
type Retry = { readonly count: number; readonly waitSeconds: number };
export type Retries = { readonly [K in Retried]?: Retry | undefined };

export type BatchStatus = 'running' | 'paused' | 'canceled' | 'completed';
export type RecipientStatus = 'waiting' | 'calling' | 'done';

/** Settings that all calls of a batch share. */
export type SharedOrder = Omit<
  CallOrder,
  'accountId' | 'agentId' | 'batch' | 'overrides' | 'spender' | 'to' | 'workId'
> & { readonly overrides: CallOverrides };

/** A recipient of a batch, with the settings of that recipient's calls. */
export type Recipient = { readonly to: string; readonly overrides: CallOverrides };

/** When and how often a batch calls. */
export type BatchTerms = {
  readonly name: string | null;
  /** Permitted hours in each recipient's time zone. A call must also fall within the operator's calling hours. */
  readonly callingHours: CallingHours | undefined;
  /** Number of the batch's calls at a time. Undefined: the agent's limit of concurrent calls applies. */
  readonly maxConcurrent: number | undefined;
  readonly retries: Retries;
  readonly startAtMs: number;
};

/** A batch as it is ordered. */
export type BatchOrder = Omit<BatchTerms, 'startAtMs'> & {
  /** Start of the batch in Unix milliseconds. Undefined: at once. */
  readonly startAtMs: number | undefined;
  readonly agentId: number;
  readonly accountId: string;
  readonly spender: CallOrder['spender'];
  readonly shared: SharedOrder;
  /** Recipients as the request has them. Each is validated separately, so that an error names its position. */
  readonly recipients: readonly unknown[];
  readonly workId: string | undefined;
};

/** A batch that is admitted. */
export type NewBatch = Omit<BatchOrder, 'recipients' | 'startAtMs'> & {
  readonly startAtMs: number;
  readonly batchId: string;
  readonly recipients: readonly Recipient[];
};

/** A batch as its row has it. */
export type Batch = BatchTerms & {
  readonly batchId: string;
  readonly agentId: number;
  readonly accountId: string;
  readonly spender: CallOrder['spender'];
  readonly shared: SharedOrder;
  readonly status: BatchStatus;
  readonly pausedFor: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
};

/** A recipient of a batch with the state of its calls. */
export type StandingRecipient = {
  readonly index: number;
  readonly to: string;
  readonly status: RecipientStatus;
  readonly outcome: RecipientOutcome | null;
  readonly reason: string | null;
  readonly calls: number;
  /** The latest call; null: there is none. */
  readonly callId: string | null;
  readonly costRaw: bigint;
  /** Time before which the recipient is not called. Null unless the recipient waits for a call. */
  readonly notBefore: Date | null;
};

/** Cursor of a page of batches, which begins after the batch with this time and id. */
export type BatchCursor = { readonly madeAtMicros: string; readonly batchId: string };

/** `batch_` and 32 hex digits. */
export const newBatchId = (random: Random): string => `batch_${randomHex(random, 16)}`;

export const isBatchId = (text: string): boolean => /^batch_[0-9a-f]{32}$/.test(text);

/** Names one attempt of a row: at most one call has it, and the hold of its admission. */
export const workIdOf = (batchId: string, seq: number, attempt: number): string =>
  `${batchId}.${seq}.${attempt}`;

/**
 * Returns the outcome of a call that is over. Undefined when the call was canceled before the carrier learned of it, and
 * nothing rang.
 */
export function outcomeOf({
  endReason,
  status,
}: Pick<Call, 'endReason' | 'status'>): RecipientOutcome | undefined {
  if (endReason === 'dial_canceled') return undefined;
  if (status === 'completed') return endReason === 'voicemail_reached' ? 'voicemail' : 'completed';
  switch (endReason) {
    case 'dial_busy':
      return 'busy';
    // The call was picked up, and hung up before any sound.
    case 'call_ended':
    case 'dial_no_answer':
      return 'no_answer';
    case 'dial_invalid':
      return 'invalid';
    case 'agent_ended':
      return 'canceled';
    default:
      return 'failed';
  }
}

/**
 * Returns the seconds until the next attempt for a recipient that was called `calls` times. Undefined when no attempt is left.
 */
export function retryAfter(
  retries: Retries,
  outcome: RecipientOutcome,
  calls: number,
): number | undefined {
  const retry = RETRIED.some((retried) => retried === outcome)
    ? retries[outcome as Retried]
    : undefined;
  return retry !== undefined && calls <= retry.count ? retry.waitSeconds : undefined;
}

const merged = (
  common: CallValues | undefined,
  own: CallValues | undefined,
): CallValues | undefined =>
  common === undefined && own === undefined ? undefined : { ...common, ...own };

/** Returns the order of one call of a batch. The recipient's own settings replace the batch's shared settings. */
export function orderOf(
  {
    accountId,
    agentId,
    shared,
    spender,
  }: Pick<Batch, 'accountId' | 'agentId' | 'shared' | 'spender'>,
  { overrides: own, to }: Recipient,
): CallOrder {
  const { overrides: common } = shared;
  return {
    ...shared,
    agentId,
    accountId,
    spender,
    to,
    overrides: {
      texts: { ...common.texts, ...own.texts },
      model: own.model ?? common.model,
      variables: merged(common.variables, own.variables),
      metadata: merged(common.metadata, own.metadata),
      voice: {
        ...common.voice,
        ...own.voice,
        conversation: { ...common.voice.conversation, ...own.voice.conversation },
      },
    },
  };
}
