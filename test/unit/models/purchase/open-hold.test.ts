import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../../src/ledger/rules/operation.ts';
import type { HoldRequest } from '../../../../src/ledger/rules/requests.ts';
import { openHold } from '../../../../src/models/purchase/open-hold.ts';
import type { Order } from '../../../../src/models/purchase/order.ts';
import type { Offer, Offers } from '../../../../src/models/routing/plan-offers.ts';
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
const orderOf = (...prices: [bigint, ...bigint[]]): Order<string, never> => ({
  model,
  offers: prices.map(offerOf) as unknown as Offers<string>,
  ask: () => Promise.reject(new Error('no source is asked here')),
  meter: () => ({ usage: {}, estimated: false }),
});

const BUYER = { spender: { agentId: 1 }, workId: undefined };

/** A ledger with a cap of so much. */
function capped(capRaw: bigint) {
  const asked: string[] = [];
  const hold = async (request: HoldRequest) => {
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
  return { asked, deps: { ledger: { hold }, clock: new ManualClock(), random } };
}

describe('the hold of an order', () => {
  it('a request’s hold covers its most expensive source', async () => {
    const { asked, deps } = capped(100n);
    const { held, order } = await openHold(deps, BUYER, orderOf(10n, 90n));
    expect([held.hold.amountRaw, order.offers.length, asked]).toEqual([90n, 2, ['90']]);
  });

  it('a request’s hold leaves out the sources that a cap does not cover', async () => {
    const { asked, deps } = capped(50n);
    const { order } = await openHold(deps, BUYER, orderOf(10n, 40n, 90n));
    expect([order.offers.map(({ heldRaw }) => heldRaw), asked]).toEqual([
      [10n, 40n],
      ['90', '40'],
    ]);
  });

  it('a request’s hold is reduced to a shorter answer when the balance allows no more', async () => {
    const { deps } = capped(50n);
    const asked = { ...orderOf(90n), forLess: () => orderOf(49n), atLeast: () => orderOf(5n) };
    expect((await openHold(deps, BUYER, asked)).held.hold.amountRaw).toBe(49n);
  });

  it('a request’s hold may suspend the agent only when the cheapest source alone is not covered', async () => {
    const { asked, deps } = capped(5n);
    await expect(openHold(deps, BUYER, orderOf(10n, 90n))).rejects.toMatchObject({ status: 402 });
    expect(asked).toEqual(['90', '10!']);
  });
});
