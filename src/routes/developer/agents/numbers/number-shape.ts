import { z } from 'zod';
import { RELEASE_REASONS } from '../../../../phone/numbers/number.ts';
import { RowId } from '../../../row-id.ts';

export const NumberParams = z.object({ agentId: RowId, numberId: RowId });

const text = z.unknown().meta({ type: 'string' });

/** Body of a rental. `Numbers` validates the members, because the refusal of a second number comes before any other error. */
export const BuyBody = z.looseObject({ areaCode: text.optional(), phoneNumber: text.optional() });

export const NumberRecord = z.object({
  id: z.number(),
  numberId: z.number(),
  phoneNumber: z.string(),
  number: z.string(),
  status: z.enum(['active', 'grace', 'released']),
  areaCode: z.string().nullable(),
  monthlyRentalRaw: z.string(),
  nextRenewalAt: z.string().nullable(),
  graceUntil: z.string().nullable(),
  releasedAt: z.string().nullable(),
  releaseReason: z.enum(RELEASE_REASONS).nullable(),
  createdAt: z.string(),
});

export const OneNumber = z.object({ number: NumberRecord });
