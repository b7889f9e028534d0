import { z } from 'zod';
import { LIMITS } from '../kernel/limits.ts';
import { normalTag } from '../kernel/tag.ts';

/** A task as a body names it, read as the header that names it on a call is. */
export const TaskId = z
  .string()
  .refine((text) => normalTag(text) !== undefined, {
    message: `must be a task id of 1 to ${LIMITS.taskIdChars} printable ASCII characters`,
  })
  .transform((text) => normalTag(text) ?? '');
