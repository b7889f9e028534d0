import { z } from 'zod';
import { CONFIG_LIMITS } from '../../../config/limits.ts';
import { created, route } from '../../../http/route/route.ts';
import { isStorable } from '../../../kernel/storable.ts';
import { readSpender } from '../../../models/purchase/read-spender.ts';
import { RETRIED } from '../../../phone/batches/batch.ts';
import type { Batches } from '../../../phone/batches/batches.ts';
import { RECIPIENT_SHAPE } from '../../../phone/batches/read-recipients.ts';
import { PHONE_LIMITS } from '../../../phone/limits.ts';
import { CALL_ORDER_SHAPE, readCallOrder } from '../order-shape.ts';
import { BatchRecord, batchRecord } from './batch-shape.ts';

const { bodyBytes, nameChars, recipients, retries, retrySeconds } = PHONE_LIMITS.batch;
const { $schema: _, ...recipientShape } = z.toJSONSchema(RECIPIENT_SHAPE, { io: 'input' });

const Retry = z.strictObject({
  /** Repeats of a recipient in all, whatever the outcomes of its calls. */
  count: z.int().min(1).max(retries),
  waitSeconds: z.int().min(retrySeconds.least).max(retrySeconds.most),
});

/** Orders calls to many numbers. The whole batch is validated before any call, and is refused as a whole or not at all. */
export const orderBatch = route<{ batches: Batches }>()({
  method: 'POST',
  path: '/v1/calls/batch',
  credential: 'agent',
  summary: 'Call many numbers',
  idempotent: true,
  rateLimit: 'gateway',
  maxBodyBytes: bodyBytes,
  body: z.object({
    name: z
      .string()
      .max(nameChars)
      .refine(isStorable, 'must hold no NUL and no half characters')
      .optional(),
    /** Each is read after the number of them was found to be small enough, so that an error names its index. */
    recipients: z.array(z.unknown().meta(recipientShape)).min(1).max(recipients),
    /** Permitted hours in each recipient's time zone. A call must also fall within the operator's calling hours. */
    callingHours: z
      .strictObject({ from: z.int().min(0).max(23), until: z.int().min(1).max(24) })
      .refine(({ from, until }) => from !== until, 'from and until must differ')
      .optional(),
    /** Calls at a time. */
    maxConcurrent: z.int().min(1).max(CONFIG_LIMITS.phone.concurrentCalls.most).optional(),
    /** Repeated calls of a recipient, by the outcome of the latest call. */
    retries: z
      .strictObject(Object.fromEntries(RETRIED.map((name) => [name, Retry.optional()])))
      .default({}),
    /** Start of the first call. */
    startAt: z.iso.datetime({ offset: true }).optional(),
    ...CALL_ORDER_SHAPE,
  }),
  response: BatchRecord,
  status: 201,

  /** Finds the batch of a lost process, so that one key never calls a recipient by two batches. */
  async recall({ caller, services, workId }) {
    const ordered = await services.batches.findOrdered(caller.agentId, workId);
    return ordered && created(batchRecord(ordered));
  },

  async handle({ body, caller, headers, services, workId }) {
    const { agentId: __, ...spender } = readSpender(caller, headers);
    const ordered = await services.batches.order({
      agentId: caller.agentId,
      accountId: caller.accountId,
      spender,
      shared: readCallOrder(body),
      recipients: body.recipients,
      name: body.name ?? null,
      callingHours: body.callingHours,
      maxConcurrent: body.maxConcurrent,
      retries: body.retries,
      startAtMs: body.startAt === undefined ? undefined : Date.parse(body.startAt),
      workId,
    });
    return created(batchRecord(ordered));
  },
});
