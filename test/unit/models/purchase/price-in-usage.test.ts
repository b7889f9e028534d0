import { describe, expect, it } from 'vitest';
import { priceInBody } from '../../../../src/models/purchase/price-in-usage.ts';

const withCost = (json: string): string =>
  Buffer.from(priceInBody(Buffer.from(json), { chargedRaw: 7n })).toString('utf8');

describe('a body with its price', () => {
  it('has it in its usage, and all other bytes as they were', () => {
    expect(withCost('{ "usage": {"a": {}} , "x":[1] }')).toBe(
      '{ "usage": {"a": {},"cost_raw":"7"} , "x":[1] }',
    );
    expect(withCost('{"usage":{ }}')).toBe('{"usage":{ "cost_raw":"7"}}');
    expect(withCost('{"usage":null}')).toBe('{"usage":{"cost_raw":"7"}}');
    expect(withCost('{"a":1}')).toBe('{"a":1,"usage":{"cost_raw":"7"}}');
    expect(withCost('{}')).toBe('{"usage":{"cost_raw":"7"}}');
  });

  it('is as it was where it is no object', () => {
    expect(withCost('none')).toBe('none');
  });

  it('says what a prompt cache saved where one was used', () => {
    const price = { chargedRaw: 7n, cacheDiscountRaw: -3n };
    expect(String(priceInBody(Buffer.from('{"usage":{"a":1}}'), price))).toBe(
      '{"usage":{"a":1,"cost_raw":"7","cache_discount_raw":"-3"}}',
    );
  });
});
