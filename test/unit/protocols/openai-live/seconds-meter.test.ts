import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MACHINE_LIMITS } from '../../../../machines/limits.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { startLiveRelay } from '../../../support/live-relay-world.ts';
import { AGENT, settleAll } from '../../../support/voice-world.ts';

type Step = { readonly passMs: number; readonly seconds: number };

const told = (event: unknown) => (event as { usage: { seconds: number; cost_raw: string } }).usage;

describe('the seconds that an upstream reports', () => {
  it('billed seconds of an upstream never exceed the elapsed time, never decrease, and are reported as the ledger has them', async () => {
    const seconds = fc.oneof(
      fc.double({ min: 0, max: 60, noNaN: true }),
      fc.constantFrom(0, 1e6, 1e9, -5, 3_600, 0.0004),
    );
    const step = fc.record({ passMs: fc.integer({ min: 0, max: 4_000 }), seconds });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.constantFrom('closed', 'broken', 'left'),
        async (steps: Step[], end) => {
          const { begin, client, clock, close, ledger, report, session, upstream } =
            await startLiveRelay();
          await begin();
          let passedMs = 0;
          for (const { passMs, seconds } of steps) {
            for (let left = passMs; left > 0; left -= 500) {
              clock.advance(Math.min(500, left));
              await settleAll();
            }
            passedMs += passMs;
            report(seconds);
            await settleAll();
          }
          if (end === 'closed') close(steps.at(-1)?.seconds ?? 0);
          if (end === 'broken') upstream.leave(1006);
          if (end === 'left') session.socketClosed();
          clock.advance(MACHINE_LIMITS.relay.finishMs);
          await session.settled;
          await settleAll();
          const reports = client.of('session.usage.updated').map(told);
          const counts = reports.map((usage) => usage.seconds).filter((count) => count >= 0);
          expect(counts).toEqual(counts.toSorted((a, b) => a - b));
          const final = told(client.of('session.closed').at(-1));
          const mostSeconds = passedMs / 1_000 + MODEL_LIMITS.usage.liveRoundingSeconds;
          expect(final.seconds).toBeLessThanOrEqual(mostSeconds + 0.001);
          expect(final.seconds).toBeGreaterThanOrEqual(Math.max(0, ...counts));
          expect(BigInt(final.cost_raw)).toBe(ledger.consumedRaw(AGENT));
          expect([ledger.openHolds(), ledger.charges.length <= 1]).toEqual([0, true]);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('a source that reports impossible seconds is distrusted, and the excess is its shortfall', async () => {
    const { begin, clock, close, distrusted, ledger, session } = await startLiveRelay();
    await begin();
    clock.advance(500);
    close(5_000);
    await session.settled;
    expect(ledger.charges).toMatchObject([{ costRaw: 2n, usage: { audio_second: 1.5 } }]);
    expect([...ledger.shortfalls.values()]).toEqual([4_998n]);
    expect(distrusted).toHaveLength(1);
  });

  it('the shortfall of a source covers even a very large number of reported seconds', async () => {
    const { begin, client, clock, close, distrusted, ledger, session } = await startLiveRelay();
    await begin();
    clock.advance(500);
    close(1e7);
    await session.settled;
    expect(told(client.of('session.closed')[0])).toEqual({ seconds: 1.5, cost_raw: '2' });
    expect([ledger.consumedRaw(AGENT), ...ledger.shortfalls.values()]).toEqual([2n, 999_998n]);
    expect(distrusted).toHaveLength(1);
  });

  it('a source that only rounds its seconds up is not distrusted', async () => {
    const { begin, clock, close, distrusted, ledger, session } = await startLiveRelay();
    await begin();
    clock.advance(4_200);
    close(5);
    await session.settled;
    expect([ledger.consumedRaw(AGENT), ledger.shortfalls.size, distrusted]).toEqual([5n, 0, []]);
  });
});
