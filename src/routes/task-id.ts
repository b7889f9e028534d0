import { z } from 'zod';
import { normalTag } from '../spend/attribution/tag.ts';
import { SPEND_LIMITS } from '../spend/limits.ts';

/** Task id in a request body, normalized like the task id in the request header. */
export const TaskId = z
  .string()
  .refine((text) => normalTag(text) !== undefined, {
    message: `must be a task id of 1 to ${SPEND_LIMITS.tag.idChars} printable ASCII characters`,
  })
  .transform((text) => normalTag(text) ?? '');
