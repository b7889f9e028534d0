import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { TRACING_LIMITS } from '../../../src/platform/tracing/limits.ts';
import { noMetrics } from '../../../src/platform/tracing/metrics.ts';
import { createOtlpTracer } from '../../../src/platform/tracing/otlp-tracer.ts';
import { logLines } from '../../support/log-lines.ts';
import { type OtlpCollector, otlpCollector } from '../../support/otlp-collector.ts';

let collector: OtlpCollector;
beforeEach(async () => {
  collector = await otlpCollector();
});
afterEach(() => collector[Symbol.asyncDispose]());

/** A tracer whose counter of spans is read by their outcome. */
async function tracerTo(
  url: string,
  sampler = { isParentBased: true, ratio: 1 },
  more: { readonly headers?: Readonly<Record<string, string>> } = {},
) {
  const said = logLines();
  const counted: Record<string, number> = {};
  const counter = () => ({
    add(amount: number, labels: Readonly<Record<string, string>> = {}) {
      const { outcome = '' } = labels;
      counted[outcome] = (counted[outcome] ?? 0) + amount;
    },
  });
  const tracer = createOtlpTracer(
    { clock: systemClock, log: said.log, metrics: { ...noMetrics, counter } },
    { url, headers: {}, serviceName: 'tested', sampler, reachesUpstreams: false, ...more },
  );
  return { tracer, counted, said };
}

describe('the exporter of spans', () => {
  it('the span exporter posts spans with its headers, and the rest when it closes', async () => {
    const headers = { 'x-api-key': 'of the collector' };
    const { tracer, counted } = await tracerTo(collector.baseUrl, undefined, { headers });
    const parent = tracer.start('parent', { kind: 'server', atMs: 5 });
    parent.child('child').end();
    parent.end({ atMs: 7.5, error: '502' });
    await tracer[Symbol.asyncDispose]();
    const [child, root] = collector.spans;
    expect(child).toMatchObject({ name: 'child', parentId: root?.spanId, kind: 'internal' });
    expect(root).toMatchObject({ name: 'parent', isError: true, service: 'tested' });
    expect(Number((root?.endNs ?? 0n) - (root?.startNs ?? 0n)) / 1e6).toBeCloseTo(2.5, 2);
    expect(collector.posts[0]?.headers['x-api-key']).toBe('of the collector');
    expect(counted).toEqual({ exported: 2 });
  });

  it('the span exporter drops spans when the collector hangs, delays nothing, and closes in time', async () => {
    collector.status = undefined;
    const { tracer, counted } = await tracerTo(collector.baseUrl);
    const startedMs = performance.now();
    let longestMs = 0;
    for (let i = 0; i < 20_000; i++) {
      const beganMs = performance.now();
      tracer.start('flood', {}).end();
      longestMs = Math.max(longestMs, performance.now() - beganMs);
      if (i % 200 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const eachMs = (performance.now() - startedMs) / 20_000;
    expect(eachMs).toBeLessThan(1);
    // One export is under way, and no other is sent before it has ended.
    expect(collector.posts.length).toBeLessThanOrEqual(1);
    const endedMs = performance.now();
    await tracer[Symbol.asyncDispose]();
    expect(performance.now() - endedMs).toBeLessThan(TRACING_LIMITS.export.flushMs + 2_000);
    expect(collector.posts.length).toBeLessThanOrEqual(TRACING_LIMITS.export.atOnce + 1);
    expect(counted.exported).toBeUndefined();
  });

  it('the span exporter counts the spans that a failing collector loses, and logs the outage once', async () => {
    collector.status = 400;
    const { tracer, counted, said } = await tracerTo(collector.baseUrl);
    for (let i = 0; i < 4 * TRACING_LIMITS.export.spansPerExport; i++)
      tracer.start('lost', {}).end();
    await expect
      .poll(() => counted.lost ?? 0)
      .toBeGreaterThan(TRACING_LIMITS.export.spansPerExport);
    await tracer[Symbol.asyncDispose]();
    expect(counted.exported).toBeUndefined();
    const told = said.lines.filter(({ msg }) => msg === 'spans could not be exported');
    expect(told).toHaveLength(1);
  });

  it('the span exporter survives a missing collector', async () => {
    await collector[Symbol.asyncDispose]();
    const { tracer } = await tracerTo('http://127.0.0.1:9/v1/traces');
    tracer.start('alone', {}).end();
    await tracer[Symbol.asyncDispose]();
    collector = await otlpCollector();
  });
});

describe('the sampler', () => {
  const of = (flags: string) =>
    new Map([['traceparent', `00-${'ab'.repeat(16)}-00f067aa0ba902b7-${flags}`]]);

  it('the trace sampler follows the caller when it is parent-based, and otherwise decides itself', async () => {
    const follows = (await tracerTo(collector.baseUrl, { isParentBased: true, ratio: 0 })).tracer;
    expect(follows.start('a', { headers: of('01') }).isRecorded).toBe(true);
    expect(follows.start('b', { headers: of('00') }).isRecorded).toBe(false);
    expect(follows.start('c', {}).isRecorded).toBe(false);
    const decides = (await tracerTo(collector.baseUrl, { isParentBased: false, ratio: 0 })).tracer;
    expect(decides.start('d', { headers: of('01') }).isRecorded).toBe(false);
    const all = (await tracerTo(collector.baseUrl, { isParentBased: false, ratio: 1 })).tracer;
    expect(all.start('e', { headers: of('00') }).isRecorded).toBe(true);
    for (const tracer of [follows, decides, all]) await tracer[Symbol.asyncDispose]();
  });

  it('the trace sampler passes an unsampled trace on as unsampled, and its spans cost nothing', async () => {
    const { tracer } = await tracerTo(collector.baseUrl, { isParentBased: true, ratio: 0 });
    const span = tracer.start('unsampled', { headers: of('00') });
    expect(span.child('child')).toBe(span);
    // The SDK, which would draw an id for a span that is never kept, is not asked.
    expect(span.headers).toEqual(Object.fromEntries(of('00')));
    expect(span.upstreamHeaders).toBeUndefined();
    const begunHere = tracer.start('begun here', {});
    expect(begunHere.child('child')).toBe(begunHere);
    await tracer[Symbol.asyncDispose]();
    expect(collector.spans).toEqual([]);
  });
});
