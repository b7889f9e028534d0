import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import type { Model, Rail, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { failed, type Outcome } from '../../../../src/models/providers/outcome.ts';
import { MAIN_HOLD } from '../../../../src/voice/billing/session-holds.ts';
import { askSources } from '../../../../src/voice/cascade/ask-sources.ts';
import { bindModel } from '../../../../src/voice/cascade/model-binding.ts';
import { chargesOn } from '../../../support/charges-on.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { NO_OWN_KEYS } from '../../../support/own-keys.ts';

const SERVED = { kind: 'completed', status: 200 } as const;
const BROKEN = failed('broken', 'status 500', 500);

const sourceOf = (provider: string, rail: Rail, priceRaw: bigint): Source => ({
  rail,
  provider,
  upstreamModel: 'm',
  marginBps: 0,
  rates: { request: priceRaw },
});

/** A session that buys of a router, and behind it of an account that is dearer. */
function session() {
  const clock = new ManualClock();
  const charges = chargesOn();
  const { tab } = charges;
  const model: Model = {
    id: 'a/b',
    modality: 'text',
    contextWindow: null,
    maxOutputTokens: null,
    sources: [sourceOf('router', 'x402-router', 10n), sourceOf('account', 'direct-account', 20n)],
  };
  const deps = {
    breaker: createSourceRests({ clock }),
    clock,
    log: silentLog,
    random: systemRandom,
    spender: { agentId: 7 },
    chargesOn: () => charges,
  };
  const part = bindModel({
    model,
    rails: { railOf: () => 'a way' },
    ownKeys: NO_OWN_KEYS,
    holdNameOf: () => MAIN_HOLD,
  });
  /** Who delivers, where the sources do as told. */
  return async (plays: Readonly<Record<string, Outcome<object>>>) => {
    const asked = await askSources<string, object>(deps, {
      part,
      priceRaw: ({ rates }) => rates.request ?? 0n,
      signal: new AbortController().signal,
      ask: async ({ source: { provider } }) => plays[provider] ?? SERVED,
    });
    asked?.share.drop();
    expect(tab.unbilledRaw(), 'nothing stays counted').toBe(0n);
    return asked?.source.provider;
  };
}

describe('the sources of a session', () => {
  it('a session asks the sources of its other hold when those of the first are backing off or cannot take the request', async () => {
    const ask = session();
    expect(await ask({ router: { kind: 'unfit', detail: 'no' } })).toBe('account');
    for (let i = 0; i < 3; i++) expect(await ask({ router: BROKEN })).toBe('account');
    expect(await ask({})).toBe('account');
  });

  it('a request that all sources fail reports the same error as if all had been asked under one hold', async () => {
    const unfit = (detail: string) => ({ kind: 'unfit', detail }) as const;
    const ask = session();
    await expect(ask({ router: unfit('first'), account: unfit('second') })).rejects.toThrow(
      'first',
    );
    await expect(ask({ router: BROKEN, account: unfit('second') })).rejects.toMatchObject({
      code: 'all_sources_failed',
    });
  });
});
