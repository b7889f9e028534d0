import { z } from 'zod';
import { isObject } from '../json.ts';

/**
 * Returns the schema of a record with at most `most` members, counted before any member is checked: thousands of faulty members
 * would occupy the event loop for a tenth of a second.
 */
export function fewMembers<V extends z.ZodType>(
  record: z.ZodRecord<z.ZodString, V>,
  most: number,
  message: string,
) {
  const { $schema: _, ...shape } = z.toJSONSchema(record, { io: 'input' });
  return z
    .unknown()
    .check(({ issues, value }) => {
      if (!isObject(value) || Object.keys(value).length <= most) return;
      issues.push({ code: 'custom', input: value, path: [], message });
    })
    .pipe(record)
    .meta(shape);
}
