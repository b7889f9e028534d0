import { describe, expect, it } from 'vitest';
import { proxyErrors } from '../../../../src/payments/errors.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import { createPriceQuotes } from '../../../../src/payments/quotes/price-quotes.ts';
import type { Probed } from '../../../../src/payments/quotes/probe-target.ts';
import { parseChallenge } from '../../../../src/x402/challenge.ts';
import { challengeV2, entryV2, PAYEE, TERMS, USDC } from '../../../support/challenges.ts';
import { placeOf } from '../../../support/fakes/scripted-client.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const TARGET = placeOf('https://vendor.example/paid');

function priced(...entries: readonly object[]): Probed {
  const parsed = parseChallenge(challengeV2(entries.map((each) => entryV2(each))), TERMS);
  if (parsed.kind !== 'challenge') throw new Error('expected a challenge');
  return { kind: 'priced', challenge: parsed.challenge };
}

function quotesOf(answer: () => Promise<Probed> | Probed) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const quotes = createPriceQuotes({
    clock,
    probe: async ({ url }, method) => {
      asked.push(`${method} ${url}`);
      return answer();
    },
  });
  return { clock, asked, quotes };
}

describe('a quote', () => {
  it('a quote has every offer of the target, in the vendor’s spelling', async () => {
    const { quotes, clock } = quotesOf(() => priced({ amount: '7' }, { amount: '5' }));
    const spelled = { asset: USDC, payTo: PAYEE };
    const payTo = PAYEE.toLowerCase();
    expect(await quotes.of(TARGET, 'GET')).toEqual({
      kind: 'quoted',
      cached: false,
      quote: {
        kind: 'priced',
        atMs: clock.now(),
        offers: [
          { amountRaw: 7n, payTo, scheme: 'exact', spelled },
          { amountRaw: 5n, payTo, scheme: 'exact', spelled },
        ],
      },
    });
  });

  it('a quote is cached by method and URL for `quoteMs`, and not a moment longer', async () => {
    const { quotes, clock, asked } = quotesOf(() => ({ kind: 'unpriced', status: 200 }));
    const first = await quotes.of(TARGET, 'GET');
    expect(first).toMatchObject({ cached: false, quote: { kind: 'free' } });
    clock.advance(PAYMENT_LIMITS.quote.timeoutMs - 1);
    expect(await quotes.of(TARGET, 'GET')).toEqual({ ...first, cached: true });
    await quotes.of(TARGET, 'POST');
    await quotes.of(placeOf('https://vendor.example/other'), 'GET');
    clock.advance(1);
    expect(await quotes.of(TARGET, 'GET')).toMatchObject({ cached: false });
    expect(asked).toEqual([
      'GET https://vendor.example/paid',
      'POST https://vendor.example/paid',
      'GET https://vendor.example/other',
      'GET https://vendor.example/paid',
    ]);
  });

  it('concurrent requests for a quote share one request to the target, and none is marked as cached', async () => {
    let answer: (probed: Probed) => void = () => {};
    const { quotes, asked } = quotesOf(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const waiting = [quotes.of(TARGET, 'GET'), quotes.of(TARGET, 'GET')];
    answer(priced({}));
    const [one, other] = await Promise.all(waiting);
    expect(asked).toHaveLength(1);
    expect(one).toEqual(other);
    expect(one).toMatchObject({ cached: false });
  });

  it('a quote that fails is reported to all who waited and is not cached', async () => {
    const { quotes, asked } = quotesOf(() => {
      throw proxyErrors.unreachable('No answer came: timeout.');
    });
    const failed = { kind: 'failed', detail: 'No answer came: timeout.' };
    expect(await Promise.all([quotes.of(TARGET, 'GET'), quotes.of(TARGET, 'GET')])).toEqual([
      failed,
      failed,
    ]);
    expect(await quotes.of(TARGET, 'GET')).toEqual(failed);
    expect(asked).toHaveLength(2);
  });

  it('a quote fails where the target fails or its demand cannot be read, and is not cached', async () => {
    const unreadable = { kind: 'unreadable', code: 'invalid_json', detail: 'not JSON' } as const;
    for (const said of [
      { kind: 'unpriced', status: 500 } as const,
      { kind: 'unpriced', status: 503 } as const,
      { kind: 'unpriced', status: 402 } as const,
      unreadable,
    ]) {
      const { quotes, asked } = quotesOf(() => said);
      expect(await quotes.of(TARGET, 'GET')).toMatchObject({ kind: 'failed' });
      expect(await quotes.of(TARGET, 'GET')).toMatchObject({ kind: 'failed' });
      expect(asked, JSON.stringify(said)).toHaveLength(2);
    }
  });

  it('a bug during a quote is rethrown and not reported as a failed quote', async () => {
    const { quotes } = quotesOf(() => {
      throw new TypeError('bug');
    });
    await expect(quotes.of(TARGET, 'GET')).rejects.toThrow('bug');
  });

  it('at most `quotesKept` quotes are cached, and the oldest is dropped', async () => {
    const { quotes, asked } = quotesOf(() => ({ kind: 'unpriced', status: 200 }));
    const place = (i: number) => placeOf(`https://vendor.example/${i}`);
    for (let i = 0; i <= PAYMENT_LIMITS.quote.kept; i++) await quotes.of(place(i), 'GET');
    expect(await quotes.of(place(1), 'GET')).toMatchObject({ cached: true });
    expect(await quotes.of(place(0), 'GET')).toMatchObject({ cached: false });
    expect(asked).toHaveLength(PAYMENT_LIMITS.quote.kept + 2);
  });
});
