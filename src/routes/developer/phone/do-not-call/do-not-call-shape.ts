import { z } from 'zod';
import type { DoNotCallPage } from '../../../../phone/dialling/do-not-call.ts';

export const DoNotCallRecord = z.object({ phoneNumber: z.string(), createdAt: z.string() });

export const doNotCallRecord = ({
  createdAt,
  phoneNumber,
}: DoNotCallPage['entries'][number]): z.output<typeof DoNotCallRecord> => ({
  phoneNumber,
  createdAt: createdAt.toISOString(),
});
