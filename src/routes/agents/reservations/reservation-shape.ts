import { z } from 'zod';

/** A reservation by its nonce, in upper or lower case; a malformed nonce reads as absent. */
export const ReservationParams = z.object({ nonce: z.string() });

/** One signed payment and its outcome. */
export const ReservationRecord = z.object({
  nonce: z.string(),
  state: z.enum([
    'reserved',
    'sent',
    'pending_settlement',
    'settled',
    'expired_unsettled',
    'payment_rejected',
  ]),
  terminal: z.boolean(),
  paymentAmountRaw: z.string(),
  paymentRecipient: z.string(),
  txHash: z.string().nullable(),
  validBefore: z.number().int(),
  reservedAt: z.string(),
  sentAt: z.string().nullable(),
  settledAt: z.string().nullable(),
});
