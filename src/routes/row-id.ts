import { z } from 'zod';

export const MAX_ROW_ID = 2_147_483_647;

/** A row id in a path: digits only. An id that no row can have reads as absent, not as an error. */
export const RowId = z
  .string()
  .regex(/^\d{1,15}$/, 'must be digits only')
  .transform((text) => (Number(text) > MAX_ROW_ID ? 0 : Number(text)));
