import { describe, expect, it } from 'vitest';
import { checkJsonBounds } from '../../../../src/kernel/json/parse-json.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { hasMoreParts } from '../../../../src/models/responses/has-more-parts.ts';

const SAMPLES: readonly unknown[] = [
  'text',
  null,
  [],
  {},
  [1, 2, [3, { a: 4 }]],
  { a: 1, b: { c: [true, null, 'x'], d: {} } },
  Array.from({ length: 40 }, (_, n) => ({ n, list: [n, [n]] })),
];

describe('the parts of plain data', () => {
  it.each(SAMPLES.map((data) => [JSON.stringify(data).slice(0, 40), data] as const))(
    'hasMoreParts counts the parts of plain data as the JSON check counts them: %s',
    (_, data) => {
      const { members, values } = checkJsonBounds(Buffer.from(JSON.stringify(data)));
      expect(hasMoreParts(data, { members, values })).toBe(false);
      if (values > 0) expect(hasMoreParts(data, { members, values: values - 1 })).toBe(true);
      if (members > 0) expect(hasMoreParts(data, { members: members - 1, values })).toBe(true);
    },
  );

  it('hasMoreParts counts the parts of plain data no further than its limits', () => {
    let looked = 0;
    const data = Array.from({ length: 1_000_000 }, () => 1);
    const watched = new Proxy(data, {
      get: (of, name) => {
        looked++;
        return Reflect.get(of, name);
      },
    });
    expect(hasMoreParts(watched, MODEL_LIMITS.chat.json)).toBe(true);
    expect(looked).toBeLessThan(3 * MODEL_LIMITS.chat.json.values);
  });
});
