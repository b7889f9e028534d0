import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import type { Model, Rail, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { requireOffers } from '../../../../src/models/catalogue/require-model.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { failed, type Outcome } from '../../../../src/models/providers/outcome.ts';
import { buy } from '../../../../src/models/purchase/buy.ts';
import type { Product } from '../../../../src/models/purchase/product.ts';
import { planOffers } from '../../../../src/models/routing/plan-offers.ts';
import { aBuyer, noStoredKeys } from '../../../support/a-buyer.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { plainBudgets } from '../../../support/plain-budgets.ts';
import { RecordedSpan } from '../../../support/recorded-span.ts';

const AGENT = 7;
const SERVED = { kind: 'completed', status: 200 } as const;
const BROKEN = failed('broken', 'status 500', 500);
const unfit = (detail: string): Outcome<object> => ({ kind: 'unfit', detail });

const sourceOf = (provider: string, rail: Rail, priceRaw: bigint): Source => ({
  rail,
  provider,
  upstreamModel: 'm',
  marginBps: 0,
  rates: { request: priceRaw },
});

/** A router, and behind it an account that is dearer; both do as told. */
async function world() {
  const clock = new ManualClock();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_000n, reference: 'start' });
  const model: Model = {
    id: 'acme/m',
    modality: 'text',
    contextWindow: null,
    maxOutputTokens: null,
    sources: [sourceOf('router', 'x402-router', 10n), sourceOf('account', 'direct-account', 20n)],
  };
  const plays: Record<string, Outcome<object>> = {};
  const asked: string[] = [];
  const rails = { railOf: () => 'a way' };
  const product: Product<string, undefined, string, object> = {
    modality: 'text',
    rails,
    quote(_, sources) {
      const rateOf = ({ rates }: Source) => rates.request ?? 0n;
      const offers = planOffers(sources, rateOf, rails.railOf);
      return { model, bound: undefined, offers: requireOffers(model, offers) };
    },
    async attempt(_, { source: { provider } }) {
      asked.push(provider);
      return plays[provider] ?? SERVED;
    },
    meter: () => ({ usage: {}, estimated: false }),
  };
  const request = { model: model.id, body: 'hello' };
  const deps = {
    catalogue: {
      models: [model],
      keyedProviders: [],
      keyedModels: [],
      find: () => model,
      findKeyed: () => undefined,
      provider: () => undefined,
      suggest: () => [],
    },
    ledger,
    clock,
    random: systemRandom,
    log: silentLog,
    breaker: createSourceRests({ clock }),
    budgets: plainBudgets(),
    providerKeys: noStoredKeys,
    rails,
  };
  /** Buys once. Tells who delivered, or what was thrown. */
  const buyOnce = async (outcomes: Readonly<Record<string, Outcome<object>>>) => {
    Object.assign(plays, { router: SERVED, account: SERVED }, outcomes);
    asked.length = 0;
    const bought = await buy(deps, product, aBuyer({ agentId: AGENT }), request).catch(
      (error) => error,
    );
    if (bought instanceof ApiError) return bought;
    await bought.settle();
    expect(ledger.openHolds()).toBe(0);
    return bought.source.provider as string;
  };
  const restRouter = async () => {
    for (let i = 0; i < 3; i++) expect(await buyOnce({ router: BROKEN })).toBe('account');
  };
  const buyTraced = async (span: RecordedSpan) => {
    const bought = await buy(deps, product, aBuyer({ agentId: AGENT }, { span }), request);
    if (bought.kind === 'not_delivered') throw new Error('no source delivered');
    return bought;
  };
  return { asked, buyOnce, buyTraced, ledger, restRouter };
}

describe('a purchase where sources of both ways to pay sell a model', () => {
  it('a purchase uses the account source while the x402 source is backing off after three failures', async () => {
    const { asked, buyOnce, restRouter } = await world();
    await restRouter();
    expect(await buyOnce({})).toBe('account');
    expect(asked).toEqual(['account']);
  });

  it('a purchase uses the account source when the x402 source cannot serve the request', async () => {
    const { asked, buyOnce } = await world();
    expect(await buyOnce({ router: unfit('no') })).toBe('account');
    expect(asked).toEqual(['router', 'account']);
  });

  it('a purchase over two rails fails with the same error as over a single hold', async () => {
    const { buyOnce, ledger, restRouter } = await world();
    const neither = { router: unfit('first'), account: unfit('second') };
    expect(await buyOnce(neither)).toMatchObject({ status: 400, fields: { message: 'first' } });
    expect(ledger.charges, 'no source was asked').toEqual([]);
    const failedFirst = { router: BROKEN, account: unfit('second') };
    expect(await buyOnce(failedFirst)).toMatchObject({ status: 502 });
    expect(ledger.charges.map(({ rail }) => rail)).toEqual(['x402-router']);
    await buyOnce({});
    await restRouter();
    expect(await buyOnce({ account: unfit('second') })).toMatchObject({ status: 503 });
    expect(await buyOnce({ account: BROKEN })).toMatchObject({ status: 502 });
    expect(ledger.openHolds()).toBe(0);
  });
});

describe('the trace of a purchase', () => {
  it.each([undefined, 'broken'])(
    'a purchase’s trace has its cost and the error that broke it off: %s',
    async (error) => {
      const { buyTraced } = await world();
      const span = new RecordedSpan('request');
      const bought = await buyTraced(span);
      await bought.settle(error);
      const [attempt] = span.children;
      expect(attempt?.ended?.error).toBe(error);
      expect(attempt?.attributes).toHaveProperty('svc.cost_raw');
    },
  );
});
