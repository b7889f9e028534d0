import { z } from 'zod';
import { OUTCOMES, type StandingRecipient } from '../../../phone/batches/batch.ts';
import type { StandingBatch } from '../../../phone/batches/batches.ts';

export const BatchParams = z.object({ batchId: z.string().min(1).max(64) });

const instant = z.string();

/** A batch of calls, as every route of it answers. */
export const BatchRecord = z.object({
  batchId: z.string(),
  agentId: z.number(),
  name: z.string().nullable(),
  status: z.enum(['running', 'paused', 'canceled', 'completed']),
  /** The error that stopped the next call. Null when the batch is not paused, or a request paused it. */
  pausedFor: z.string().nullable(),
  callingHours: z.object({ from: z.number(), until: z.number() }).nullable(),
  /** Calls of the batch at a time. Null: the agent's limit of concurrent calls applies. */
  maxConcurrent: z.number().nullable(),
  /** Recipients in all. */
  recipients: z.number(),
  /** Number of recipients by state: `waiting`, `calling`, or the outcome of a recipient that is done. */
  counts: z.record(z.string(), z.number()),
  /** Cost of the calls that are over. */
  costRaw: z.string(),
  startAt: instant,
  createdAt: instant,
  endedAt: instant.nullable(),
});

export const batchRecord = (batch: StandingBatch): z.output<typeof BatchRecord> => ({
  batchId: batch.batchId,
  agentId: batch.agentId,
  name: batch.name,
  status: batch.status,
  pausedFor: batch.pausedFor,
  callingHours: batch.callingHours ?? null,
  maxConcurrent: batch.maxConcurrent ?? null,
  recipients: batch.totals.recipients,
  counts: batch.totals.counts,
  costRaw: `${batch.totals.costRaw}`,
  startAt: new Date(batch.startAtMs).toISOString(),
  createdAt: batch.createdAt.toISOString(),
  endedAt: batch.endedAt?.toISOString() ?? null,
});

export const RecipientRecord = z.object({
  /** The place in the list of the request, from 0. */
  index: z.number(),
  to: z.string(),
  status: z.enum(['waiting', 'calling', 'done']),
  /** Outcome of the recipient's latest finished call, or of a recipient who will not be called again. */
  outcome: z.enum(OUTCOMES).nullable(),
  /** End reason of the latest finished call, or the error because of which no call was placed. */
  reason: z.string().nullable(),
  calls: z.number(),
  /** The latest call. */
  callId: z.string().nullable(),
  costRaw: z.string(),
  /** No call before then; null unless `status` is `waiting`. */
  notBefore: instant.nullable(),
});

export const recipientRecord = ({
  costRaw,
  notBefore,
  ...row
}: StandingRecipient): z.output<typeof RecipientRecord> => ({
  ...row,
  costRaw: `${costRaw}`,
  notBefore: notBefore?.toISOString() ?? null,
});
