import { describe, expect, it } from 'vitest';
import { priceInBody } from '../../../../src/models/purchase/price-in-usage.ts';

const withCost = (json: string): string =>
  Buffer.from(priceInBody(Buffer.from(json), { chargedRaw: 7n })).toString('utf8');

describe('a body with its price', () => {
  it('a response body gets its price in its usage and keeps all other bytes', () => {
    expect(withCost('{ "usage": {"a": {}} , "x":[1] }')).toBe(
      '{ "usage": {"a": {},"cost_raw":"7"} , "x":[1] }',
    );
    expect(withCost('{"usage":{ }}')).toBe('{"usage":{ "cost_raw":"7"}}');
    expect(withCost('{"usage":null}')).toBe('{"usage":{"cost_raw":"7"}}');
    expect(withCost('{"a":1}')).toBe('{"a":1,"usage":{"cost_raw":"7"}}');
    expect(withCost('{}')).toBe('{"usage":{"cost_raw":"7"}}');
  });

  it('a response body that is no JSON object stays unchanged', () => {
    expect(withCost('none')).toBe('none');
  });

  it('a response body’s usage has the cache discount when a prompt cache was used', () => {
    const price = { chargedRaw: 7n, cacheDiscountRaw: -3n };
    expect(String(priceInBody(Buffer.from('{"usage":{"a":1}}'), price))).toBe(
      '{"usage":{"a":1,"cost_raw":"7","cache_discount_raw":"-3"}}',
    );
  });
});
