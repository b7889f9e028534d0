import { describe, expect, it } from 'vitest';
import { brokenEnd, wholeEnd } from '../../../../src/models/purchase/stream-end.ts';

describe('the end of a stream', () => {
  it('has its price in a comment before its terminator', () => {
    expect(String(wholeEnd(7_350n))).toBe(': svc-cost-usdc=7350\n\ndata: [DONE]\n\n');
  });

  it('that is broken has it before the error, and never a terminator', () => {
    const [comment, error = ''] = String(brokenEnd(12n)).split('\n\n');
    expect(comment).toBe(': svc-cost-usdc=12');
    expect(JSON.parse(error.slice('data: '.length))).toMatchObject({
      error: { type: 'upstream_error', code: 'upstream_broke_off' },
    });
    expect(String(brokenEnd(undefined))).toBe(`${error}\n\n`);
  });
});
