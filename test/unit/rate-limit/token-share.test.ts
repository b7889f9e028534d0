import { describe, expect, it } from 'vitest';
import { TokenShare } from '../../../src/rate-limit/token-share.ts';

const window = (taken: number, windowId = 'w1', leftMs = 60_000) => ({ windowId, taken, leftMs });

describe('a share of a limit', () => {
  it('a token share is at most 2 % of the limit and at least one token', () => {
    const sizes = [0, 1, 60, 100, 300, 3_000].map((limit) => new TokenShare('b', limit).need(0));
    expect(sizes).toEqual([1, 1, 1, 2, 6, 60]);
  });

  it('a token share covers the requests that wait already', () => {
    expect(new TokenShare('b', 300).need(40)).toBe(40);
  });

  it('a token share never has more than 3 % of the limit unused, tokens claimed ahead included', () => {
    for (const limit of [60, 100, 300, 3_000]) {
      const share = new TokenShare('b', limit);
      let taken = 0;
      let used = 0;
      let most = 0;
      const claim = () => {
        taken += share.need(0);
        share.receive(window(taken), share.need(0), 0);
        most = Math.max(most, Math.min(taken, limit) - used);
      };
      claim();
      for (let n = 0; n < 2 * limit; n++) {
        const allowed = share.take(0);
        if (allowed === false) break;
        if (allowed === undefined) claim();
        else used++;
        if (share.isLow) claim();
      }
      expect(used).toBe(limit);
      expect(most / limit).toBeLessThanOrEqual(0.03);
    }
  });

  it('a token share gets nothing from a claim at the limit and refuses until the window ends', () => {
    const share = new TokenShare('b', 100);
    share.receive(window(101), 2, 0);
    expect([share.take(1), share.take(2), share.remaining]).toEqual([true, false, 0]);
    expect(share.isLow).toBe(false);
    expect(share.take(59_999)).toBe(false);
    expect(share.take(60_000)).toBeUndefined();
    expect(share.remaining).toBe(100);
  });

  it('a token share keeps no token of an ended window', () => {
    const share = new TokenShare('b', 3_000);
    share.receive(window(60), 60, 0);
    expect(share.take(0)).toBe(true);
    share.receive(window(60, 'w2'), 60, 30_000);
    let used = 0;
    while (share.take(30_000) === true) used++;
    expect(used).toBe(60);
  });

  it('a token share without the database admits no more than the limit in a window, earlier requests included', () => {
    const share = new TokenShare('b', 10);
    share.receive(window(4), 4, 0);
    for (let n = 0; n < 4; n++) expect(share.take(0)).toBe(true);
    const alone = Array.from({ length: 10 }, () => share.takeAlone(1));
    expect(alone.filter(Boolean)).toHaveLength(6);
    expect(share.takeAlone(59_999)).toBe(false);
    expect([share.takeAlone(60_000), share.endsMs]).toEqual([true, 120_000]);
  });
});
