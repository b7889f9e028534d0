import { z } from 'zod';
import { MODEL_LIMITS } from '../../models/limits.ts';

const Id = z.string().max(MODEL_LIMITS.idChars).optional();

/** `include` requests more than the plain, compatible entry: `pricing`. The other members are for Anthropic's clients alone. */
export const ModelsQuery = z.object({
  include: z.string().max(100).optional(),
  limit: z.string().max(16).optional(),
  after_id: Id,
  before_id: Id,
});
