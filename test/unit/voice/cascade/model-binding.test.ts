import { describe, expect, it } from 'vitest';
import type { Model, Rail, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { bindModel } from '../../../../src/voice/cascade/model-binding.ts';
import { NO_OWN_KEYS } from '../../../support/own-keys.ts';

const source = (provider: string, rail: Rail, priceRaw: bigint): Source => ({
  rail,
  provider,
  upstreamModel: 'm',
  marginBps: 0,
  rates: { request: priceRaw },
});

/** The providers that are asked under each hold of a session, in turn. */
function groups(sources: readonly Source[], own: readonly Source[] = []) {
  const model: Model = {
    id: 'a/b',
    modality: 'text',
    contextWindow: null,
    maxOutputTokens: null,
    sources,
  };
  const { stages } = bindModel({
    model,
    rails: { railOf: () => 'a way' },
    ownKeys: {
      ...NO_OWN_KEYS,
      sourcesOf: () => own.map((source) => ({ source, ownKey: 'sk-own' })),
    },
    holdNameOf: (_, { rail }) => (rail === 'byok' ? 'own' : 'pool'),
  });
  return stages(({ rates }) => rates.request ?? 0n).map(({ offers, sessionHold }) => [
    sessionHold,
    ...offers.map((offer) => offer.source.provider),
  ]);
}

describe('a model of a session', () => {
  it("the sources of a session's model are ordered by own keys, then by price, in separate groups for x402 and accounts", () => {
    const sources = [
      source('account', 'direct-account', 20n),
      source('router', 'x402-router', 10n),
      source('host', 'self-host', 5n),
      source('router 2', 'x402-router', 30n),
    ];
    const own = [source('own', 'byok', 90n)];
    expect(groups(sources, own)).toEqual([
      ['own', 'own'],
      ['pool', 'host', 'account'],
      ['pool', 'router', 'router 2'],
    ]);
  });

  it('a session buys its model from an account when a payment by x402 would cost as much', () => {
    const sources = [source('router', 'x402-router', 10n), source('account', 'self-host', 10n)];
    expect(groups(sources)).toEqual([
      ['pool', 'account'],
      ['pool', 'router'],
    ]);
  });

  it('a session is refused a model that no source sells', () => {
    expect(() => groups([])).toThrow('no_source_available');
  });
});
