import { z } from 'zod';
import { isObject } from '../json.ts';

/**
 * A record of at most so many members. They are counted before any is looked at: thousands of them, each with a fault to
 * tell of, would keep the event loop for a tenth of a second.
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
