import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../../src/ledger/rules/operation.ts';
import type { HoldRequest } from '../../../../src/ledger/rules/requests.ts';
import { hold } from '../../../../src/models/purchase/hold.ts';
import type { Product, Quote } from '../../../../src/models/purchase/product.ts';
import type { Offer, Offers } from '../../../../src/models/routing/plan-offers.ts';
import { aBuyer } from '../../../support/a-buyer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { policyOf } from '../../../support/spending.ts';

const model = {
  ...({ id: 'acme/m', modality: 'text', contextWindow: null, maxOutputTokens: null } as const),
  sources: [],
};
const offerOf = (heldRaw: bigint): Offer<string> => ({
  source: {
    rail: 'direct-account',
    provider: `p${heldRaw}`,
    upstreamModel: 'm',
    marginBps: 0,
    rates: {},
  },
  ownKey: undefined,
  rail: 'rail',
  priceRaw: heldRaw,
  heldRaw,
  mostPaidRaw: undefined,
});
const quoteOf = (...prices: [bigint, ...bigint[]]): Quote<string, string> => ({
  model,
  bound: 'bound',
  offers: prices.map(offerOf) as unknown as Offers<string>,
});

type Sizes = Pick<Product<string, string, string, never>, 'least' | 'lessen'>;

const holdOf = (
  deps: Parameters<typeof hold>[0],
  quote: Quote<string, string>,
  product: Sizes = {},
) => hold(deps, { product, buyer: aBuyer({ agentId: 1 }), body: 'hello', quote });

/** A ledger with a cap of so much. */
function capped(capRaw: bigint) {
  const asked: string[] = [];
  const holdOnce = async (request: HoldRequest) => {
    const { amountRaw, holdId, isQuiet = false } = request;
    asked.push(`${amountRaw}${isQuiet ? '' : '!'}`);
    const breach = { policy: policyOf(), requiredRaw: amountRaw, spentRaw: 0n, capRaw };
    if (amountRaw > capRaw) {
      const room = { breach, availableRaw: capRaw, suspended: !isQuiet };
      return { kind: 'refused', refusal: { reason: 'cap_exceeded', ...room } } as const;
    }
    const opened = { holdId, agentId: 1, amountRaw, facts: factsOf(request) };
    return { kind: 'held', hold: opened, funds: { spendableRaw: 0n, heldRaw: 0n } } as const;
  };
  const random = { bytes: (length: number) => Buffer.alloc(length) };
  return { asked, deps: { ledger: { hold: holdOnce }, clock: new ManualClock(), random } };
}

describe('the hold of a request', () => {
  it('a request’s hold covers its most expensive source', async () => {
    const { asked, deps } = capped(100n);
    const { held, quote } = await holdOf(deps, quoteOf(10n, 90n));
    expect([held.hold.amountRaw, quote.offers.length, asked]).toEqual([90n, 2, ['90']]);
  });

  it('a request’s hold leaves out the sources that a cap does not cover', async () => {
    const { asked, deps } = capped(50n);
    const { quote } = await holdOf(deps, quoteOf(10n, 40n, 90n));
    expect([quote.offers.map(({ heldRaw }) => heldRaw), asked]).toEqual([
      [10n, 40n],
      ['90', '40'],
    ]);
  });

  it('a request’s hold is reduced to a shorter answer when the balance allows no more', async () => {
    const { deps } = capped(50n);
    const sizes = { lessen: () => quoteOf(49n), least: () => quoteOf(5n) };
    expect((await holdOf(deps, quoteOf(90n), sizes)).held.hold.amountRaw).toBe(49n);
  });

  it('a request’s hold may suspend the agent only when the cheapest source alone is not covered', async () => {
    const { asked, deps } = capped(5n);
    await expect(holdOf(deps, quoteOf(10n, 90n))).rejects.toMatchObject({ status: 402 });
    expect(asked).toEqual(['90', '10!']);
  });
});
