import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Batches } from '../../../phone/batches/batches.ts';
import { PHONE_LIMITS } from '../../../phone/limits.ts';
import { ownerOf } from '../call-owner.ts';
import { BatchParams, RecipientRecord, recipientRecord } from './batch-shape.ts';

const { most, usual } = PHONE_LIMITS.batch.page;

/** The recipients of a batch, in the order of its request. */
export const listRecipients = route<{ batches: Batches }>()({
  method: 'GET',
  path: '/v1/calls/batch/:batchId/recipients',
  credential: 'any',
  summary: 'List the recipients of a batch of calls',
  params: BatchParams,
  query: z.object({
    limit: z.coerce.number().int().min(1).max(most).default(usual),
    cursor: z.coerce.number().int().min(0).max(PHONE_LIMITS.batch.recipients).optional(),
  }),
  response: z.object({
    recipients: z.array(RecipientRecord),
    nextCursor: z.string().nullable(),
  }),

  async handle({ caller, params, query, services }) {
    const page = { after: query.cursor ?? -1, limit: query.limit };
    const { next, recipients } = await services.batches.recipients(
      ownerOf(caller),
      params.batchId,
      page,
    );
    return ok({
      recipients: recipients.map(recipientRecord),
      nextCursor: next === undefined ? null : String(next),
    });
  },
});
