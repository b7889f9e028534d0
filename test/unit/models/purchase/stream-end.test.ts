import { describe, expect, it } from 'vitest';
import {
  brokenEnd,
  OPENAI_ENDING,
  priceComments,
} from '../../../../src/models/purchase/stream-end.ts';

describe('the end of a stream', () => {
  it('a stream’s end has its price in a comment before the terminator', () => {
    expect(String(OPENAI_ENDING.whole({ chargedRaw: 7_350n }))).toBe(
      ': svc-cost-usdc=7350\n\ndata: [DONE]\n\n',
    );
  });

  it('a stream’s end has the cache discount in its own comment, even a negative one', () => {
    expect(String(priceComments({ chargedRaw: 5n, cacheDiscountRaw: -2n }))).toBe(
      ': svc-cost-usdc=5\n\n: svc-cache-discount-usdc=-2\n\n',
    );
  });

  it('a broken stream’s end has the price before the error, and no terminator', () => {
    const [comment, error = ''] = String(brokenEnd({ chargedRaw: 12n })).split('\n\n');
    expect(comment).toBe(': svc-cost-usdc=12');
    expect(JSON.parse(error.slice('data: '.length))).toMatchObject({
      error: { type: 'upstream_error', code: 'upstream_broke_off' },
    });
    expect(String(brokenEnd(undefined))).toBe(`${error}\n\n`);
  });
});
