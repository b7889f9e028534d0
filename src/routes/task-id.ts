import { z } from 'zod';
import { LIMITS } from '../kernel/limits.ts';
import { normalTag } from '../spend/attribution/tag.ts';

/** Task id in a request body, normalized like the task id in the request header. */
export const TaskId = z
  .string()
  .refine((text) => normalTag(text) !== undefined, {
    message: `must be a task id of 1 to ${LIMITS.taskIdChars} printable ASCII characters`,
  })
  .transform((text) => normalTag(text) ?? '');
