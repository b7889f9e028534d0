import { z } from 'zod';

/** What more than the plain, compatible entry is asked for: `pricing`. */
export const ModelsQuery = z.object({ include: z.string().max(100).optional() });
