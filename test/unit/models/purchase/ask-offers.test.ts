import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import type { Rail } from '../../../../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { failed, type Outcome } from '../../../../src/models/providers/outcome.ts';
import { askOffers } from '../../../../src/models/purchase/ask-offers.ts';
import type { Offer, Offers } from '../../../../src/models/routing/plan-offers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const SERVED = { kind: 'completed', status: 200 } as const;
const BROKEN = failed('broken', 'status 500', 500);
const model = {
  ...({ id: 'acme/m', modality: 'text', contextWindow: null, maxOutputTokens: null } as const),
  sources: [],
};

const offerOf = (rail: Rail, more: Partial<Offer<string>> = {}): Offer<string> => ({
  source: { rail, provider: rail, upstreamModel: 'm', marginBps: 0, rates: {} },
  ownKey: undefined,
  rail: 'a way',
  priceRaw: 9n,
  heldRaw: 9n,
  mostPaidRaw: undefined,
  ...more,
});

/** Asks these, which answer so in turn, and tells all that was done for it. */
async function asked(
  offers: Offers<string>,
  outcomes: Outcome<object>[],
  before?: Parameters<typeof askOffers>[2],
) {
  const done: unknown[] = [];
  const clock = new ManualClock();
  let payments = 0;
  const tried = await askOffers<string, object>(
    { breaker: createSourceRests({ clock }), clock, log: silentLog },
    {
      model,
      offers,
      spender: { agentId: 1 },
      noteUse: async ({ provider }) => void done.push(`${provider} noted`),
      paymentId: () => `pay_${++payments}`,
      async ask({ source }, method) {
        done.push([source.provider, method]);
        return outcomes.shift() ?? { kind: 'aborted' };
      },
    },
    before,
  );
  return { done, tried };
}

describe('the sellers of a purchase', () => {
  it('an attempt on the operator’s account carries no payment', async () => {
    const { done } = await asked([offerOf('direct-account')], [SERVED]);
    expect(done).toEqual([['direct-account', undefined]]);
  });

  it('an attempt with the caller’s own key is recorded before the request is sent', async () => {
    const { done } = await asked([offerOf('byok', { ownKey: 'sk-own' })], [SERVED]);
    expect(done).toEqual(['byok noted', ['byok', { ownKey: 'sk-own' }]]);
  });

  it('each x402 attempt pays from a hold of its own, under the maker of the model', async () => {
    const router = offerOf('x402-router', { mostPaidRaw: 7n });
    const { done } = await asked([router, router], [BROKEN, SERVED]);
    const budget = (holdId: string) => ({
      budget: { spender: { agentId: 1 }, maker: 'acme', mostRaw: 7n, holdId },
    });
    expect(done).toEqual([
      ['x402-router', budget('pay_1')],
      ['x402-router', budget('pay_2')],
    ]);
  });

  it('attempts are counted together with earlier attempts for the same request', async () => {
    const limited = {
      outcome: failed('rate_limited', 'x', 429, 7),
      source: offerOf('byok').source,
    };
    const before = { attempts: 2, upstreamMs: 40, limited };
    const { tried } = await asked([offerOf('direct-account')], [SERVED], before);
    expect(tried).toMatchObject({ attempts: 3, upstreamMs: 40, limited });
  });
});
