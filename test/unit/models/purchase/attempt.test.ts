import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { factsOf } from '../../../../src/ledger/rules/operation.ts';
import type { Rail } from '../../../../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { failed, type Outcome } from '../../../../src/models/providers/outcome.ts';
import { attempt } from '../../../../src/models/purchase/attempt.ts';
import type { Product } from '../../../../src/models/purchase/product.ts';
import type { Offer, Offers } from '../../../../src/models/routing/plan-offers.ts';
import { aBuyer } from '../../../support/a-buyer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const ANYWHERE = { host: 'acme', payee: null };
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

/** Attempts the offers, whose sources answer with `outcomes` in turn. Returns the attempts and what was done for each. */
async function attempted(
  offers: Offers<string>,
  outcomes: Outcome<object>[],
  before?: Parameters<typeof attempt>[3],
) {
  const done: unknown[] = [];
  const clock = new ManualClock();
  const product: Product<string, undefined, string, object> = {
    modality: 'text',
    rails: { railOf: () => 'a way' },
    quote: () => quote,
    async attempt(_, { source }, method) {
      done.push([source.provider, method]);
      return outcomes.shift() ?? { kind: 'aborted' };
    },
    meter: () => ({ usage: {}, estimated: false }),
  };
  const quote = { model, bound: undefined, offers };
  const spender = { agentId: 1 };
  const facts = factsOf({ spender, destination: ANYWHERE });
  const hold = { holdId: 'work', agentId: 1, amountRaw: 9n, facts };
  const held = { kind: 'held', hold, funds: { spendableRaw: 0n, heldRaw: 9n } } as const;
  const tried = await attempt(
    {
      breaker: createSourceRests({ clock }),
      clock,
      log: silentLog,
      providerKeys: {
        noteUse: async (_, provider) => void done.push(`${provider} noted`),
      },
    },
    product,
    { buyer: aBuyer(spender), body: 'hello', quote, held, arrivedMs: 0 },
    before,
  );
  return { done, tried };
}

describe('the attempts of a purchase', () => {
  it('an attempt on the operator’s account carries no payment', async () => {
    const { done } = await attempted([offerOf('direct-account')], [SERVED]);
    expect(done).toEqual([['direct-account', undefined]]);
  });

  it('an attempt with the caller’s own key is recorded before the request is sent', async () => {
    const { done } = await attempted([offerOf('byok', { ownKey: 'sk-own' })], [SERVED]);
    expect(done).toEqual(['byok noted', ['byok', { ownKey: 'sk-own' }]]);
  });

  it('an x402 attempt pays from a second hold beside the hold of the request, and names the maker of the model', async () => {
    const router = offerOf('x402-router', { mostPaidRaw: 7n });
    const { done } = await attempted([router, router], [BROKEN, SERVED]);
    const budget = { spender: { agentId: 1 }, maker: 'acme', mostRaw: 7n, holdId: 'work:pay' };
    expect(done).toEqual([
      ['x402-router', { budget }],
      ['x402-router', { budget }],
    ]);
  });

  it('attempts are counted together with earlier attempts for the same request', async () => {
    const limited = {
      outcome: failed('rate_limited', 'x', 429, 7),
      source: offerOf('byok').source,
    };
    const before = { attempts: 2, upstreamMs: 40, limited };
    const { tried } = await attempted([offerOf('direct-account')], [SERVED], before);
    expect(tried).toMatchObject({ attempts: 3, upstreamMs: 40, limited });
  });

  it('attempts that none of the sources can serve end with their own outcome, not with that of earlier attempts', async () => {
    const before = {
      outcome: BROKEN,
      source: offerOf('byok').source,
      attempts: 1,
      upstreamMs: 40,
      limited: undefined,
    };
    const unfit = { kind: 'unfit', detail: 'no pictures' } as const;
    const { tried } = await attempted([offerOf('direct-account')], [unfit], before);
    expect(tried).toMatchObject({
      outcome: unfit,
      source: { rail: 'direct-account' },
      attempts: 1,
    });
  });
});
