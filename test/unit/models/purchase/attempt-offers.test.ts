import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { failed, type Outcome } from '../../../../src/models/providers/outcome.ts';
import { traceHeadersNow } from '../../../../src/models/providers/upstream-trace.ts';
import { attemptOffers } from '../../../../src/models/purchase/attempt.ts';
import type { Offers } from '../../../../src/models/routing/plan-offers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordedSpan } from '../../../support/recorded-span.ts';

const sourceOf = (provider: string): Source => ({
  rail: 'direct-account',
  provider,
  upstreamModel: 'x',
  rates: {},
  marginBps: 0,
});
const SERVED = { kind: 'completed', status: 200 } as const;
const unfit = (detail: string) => ({ kind: 'unfit', detail }) as const;

/** Sources that answer so in turn, one each; each takes a second. */
function world() {
  const clock = new ManualClock();
  const breaker = createSourceRests({ clock });
  return async (...outcomes: [Outcome<object>, ...Outcome<object>[]]) => {
    const asked: string[] = [];
    const offers = outcomes.map((outcome, index) => {
      return { source: sourceOf(`up${index}`), rail: outcome, priceRaw: 0n };
    });
    const tried = await attemptOffers<Outcome<object>, object>(
      { breaker, clock, log: silentLog },
      {
        offers: offers as unknown as Offers<Outcome<object>>,
        async ask({ rail, source }) {
          asked.push(source.provider);
          clock.advance(1_000);
          return rail;
        },
      },
    );
    const { outcome, source, ...more } = tried;
    return { outcome, provider: source.provider, asked, ...more };
  };
}

describe('the sources of a purchase', () => {
  it('sources are called in turn until one delivers, and the last rate limit is remembered', async () => {
    const limited = failed('rate_limited', 'x', 429, 7);
    expect(await world()(limited, failed('broken', 'x', 500), SERVED, SERVED)).toEqual({
      outcome: SERVED,
      provider: 'up2',
      asked: ['up0', 'up1', 'up2'],
      attempts: 3,
      upstreamMs: 3_000,
      limited: { outcome: limited, source: sourceOf('up0') },
    });
  });

  it('a source that cannot serve the request is skipped and not counted as an attempt', async () => {
    expect(await world()(unfit('no'), SERVED)).toEqual({
      outcome: SERVED,
      provider: 'up1',
      asked: ['up0', 'up1'],
      attempts: 1,
      upstreamMs: 1_000,
    });
  });

  it('a request that no source can serve fails with the reason of the first source', async () => {
    const alone = await world()(unfit('first'), unfit('second'));
    expect(alone).toMatchObject({ outcome: unfit('first'), attempts: 0, upstreamMs: 0 });
    const broken = await world()(unfit('first'), failed('broken', 'x', 500));
    expect(broken).toMatchObject({ outcome: { kind: 'failed' }, provider: 'up1', attempts: 1 });
    const declined = { kind: 'declined', status: 404 } as Outcome<object>;
    expect(await world()(unfit('first'), declined)).toMatchObject({ outcome: declined });
    expect(await world()(unfit('first'), { kind: 'aborted' })).toMatchObject({
      outcome: { kind: 'aborted' },
    });
  });

  it('a source does not back off for requests that it cannot serve', async () => {
    const tries = world();
    for (let i = 0; i < 20; i++) await tries(unfit('no'));
    expect(await tries(SERVED)).toMatchObject({ outcome: SERVED, asked: ['up0'] });
    for (let i = 0; i < 20; i++) await tries(failed('broken', 'x', 500));
    expect(await tries(unfit('no'))).toMatchObject({ outcome: { kind: 'resting' }, asked: [] });
  });
});

describe('the attempts of a purchase', () => {
  const tracedBy = async (reachesUpstreams: boolean, outcome: Outcome<object> | Error) => {
    const parent = new RecordedSpan('request');
    const child = parent.child.bind(parent);
    parent.child = (name, start) =>
      Object.assign(child(name, start), {
        upstreamHeaders: reachesUpstreams ? { a: 'b' } : undefined,
      });
    const added: unknown[] = [];
    const tried = attemptOffers<undefined, object>(
      { breaker: createSourceRests({ clock }), clock, log: silentLog },
      {
        offers: [{ source: sourceOf('up'), rail: undefined, priceRaw: 0n }] as never,
        traced: { span: parent, model: { id: 'acme/m', modality: 'text' } as Model, agentId: 1 },
        async ask() {
          added.push(traceHeadersNow());
          await Promise.resolve();
          added.push(traceHeadersNow());
          if (outcome instanceof Error) throw outcome;
          return outcome;
        },
      },
    );
    return { added, span: parent.children[0], tried };
  };
  const clock = new ManualClock();

  it('trace headers reach an upstream only when the operator enables them, and no later request', async () => {
    const quiet = await tracedBy(false, SERVED);
    await quiet.tried;
    expect(quiet.added).toEqual([undefined, undefined]);
    const told = await tracedBy(true, SERVED);
    await told.tried;
    expect(told.added).toEqual([{ a: 'b' }, { a: 'b' }]);
    expect(traceHeadersNow()).toBeUndefined();
  });

  it('an attempt’s span ends with its failure, and stays open when the source delivers', async () => {
    const limited = await tracedBy(false, failed('rate_limited', 'a secret', 429));
    await limited.tried;
    expect(limited.span?.ended).toEqual({
      attributes: { 'http.response.status_code': 429 },
      error: 'rate_limited',
    });
    const served = await tracedBy(false, SERVED);
    expect((await served.tried) as object).toMatchObject({ span: served.span });
    expect(served.span?.ended).toBeUndefined();
    const broken = await tracedBy(false, new Error('a bug'));
    await expect(broken.tried).rejects.toThrow('a bug');
    expect(broken.span?.ended).toEqual({ error: 'bug' });
  });
});
