import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addUsage } from '../../../src/kernel/price.ts';
import { CallMeter, secondsRecorded, useOfJournal } from '../../../src/phone/calls/call-meter.ts';
import { legsWithin } from '../../../src/phone/calls/call-money.ts';
import {
  type LineKind,
  legCosts,
  minuteRaw,
  RATE_CARD,
  type RateCard,
  secondsWithin,
  sumOf,
} from '../../../src/phone/rate-card.ts';

const OUTBOUND: LineKind = { direction: 'outbound', detectsMachine: false };

/** A part of a second, as a clock reads it. */
const part = () => fc.double({ min: 0, max: 1, noNaN: true });

const NOTHING = { lineSeconds: 0, sttSeconds: 0, ttsCharacters: 0, recordedSeconds: 0 };

describe('the rate card', () => {
  it('the rate card charges the published price for a minute of each direction', () => {
    const use = { lineSeconds: 60, sttSeconds: 60, ttsCharacters: 1_000, recordedSeconds: 0 };
    const inbound = legCosts(RATE_CARD, { ...OUTBOUND, direction: 'inbound' }, use);
    expect(inbound).toEqual({ transportRaw: 8_900n, sttRaw: 4_500n, ttsRaw: 52_500n });
    expect(legCosts(RATE_CARD, OUTBOUND, use).transportRaw).toBe(14_700n);
    expect(minuteRaw(RATE_CARD, OUTBOUND, true)).toBe(19_200n);
  });

  it("the rate card bills a line in the carrier's increments, and nothing for a line that was never connected", () => {
    const raw = { streamMinuteRaw: 0n, outboundMinuteRaw: 60n };
    const billedSeconds = (lineSeconds: number, incrementSeconds: 1 | 6 | 60) => {
      const use = { lineSeconds, sttSeconds: 0, ttsCharacters: 0, recordedSeconds: 0 };
      const { transportRaw } = legCosts({ ...RATE_CARD, ...raw, incrementSeconds }, OUTBOUND, use);
      return Number(transportRaw);
    };
    const steps = (incrementSeconds: 1 | 6 | 60) =>
      [0, 0.2, 6, 61].map((seconds) => billedSeconds(seconds, incrementSeconds));
    expect(steps(1)).toEqual([0, 1, 6, 61]);
    expect(steps(6)).toEqual([0, 6, 6, 66]);
    expect(steps(60)).toEqual([0, 60, 60, 120]);
  });

  it('the rate card adds the surcharges of the carrier to the line', () => {
    const card = {
      ...RATE_CARD,
      streamMinuteRaw: 4_000n,
      recordingMinuteRaw: 2_500n,
      machineDetectionRaw: 7_500n,
    };
    const use = { lineSeconds: 60, sttSeconds: 0, ttsCharacters: 0, recordedSeconds: 60 };
    const line = { ...OUTBOUND, detectsMachine: true };
    expect(legCosts(card, line, use).transportRaw).toBe(28_700n);
    // Only the seconds that were recorded cost more.
    expect(legCosts(card, line, { ...use, recordedSeconds: 24 }).transportRaw).toBe(27_200n);
    const nothing = { ...use, lineSeconds: 0, recordedSeconds: 0 };
    expect(legCosts(card, line, nothing).transportRaw).toBe(0n);
    expect(minuteRaw(card, OUTBOUND, true) - minuteRaw(card, OUTBOUND, false)).toBe(2_500n);
  });
});

it('secondsWithin returns how many seconds of a line an amount pays for, and never one too many', () => {
  const card = fc
    .constantFrom(1, 6, 60)
    .map((incrementSeconds) => ({ ...RATE_CARD, incrementSeconds }));
  fc.assert(
    fc.property(
      card as fc.Arbitrary<RateCard>,
      fc.bigInt({ min: -9n, max: 2_000_000n }),
      (of, raw) => {
        const costOf = (lineSeconds: number) =>
          sumOf(legCosts(of, OUTBOUND, { ...NOTHING, lineSeconds }));
        const seconds = secondsWithin(of, OUTBOUND, raw);
        expect(seconds % of.incrementSeconds).toBe(0);
        if (raw >= 0n) expect(costOf(seconds) <= raw).toBe(true);
        expect(costOf(seconds + of.incrementSeconds) > raw).toBe(true);
      },
    ),
  );
  const free = { ...RATE_CARD, outboundMinuteRaw: 0n };
  expect(secondsWithin(free, OUTBOUND, 0n)).toBe(Number.POSITIVE_INFINITY);
});

describe('the meter of a call', () => {
  const pieces = fc.array(
    fc.record({
      seconds: fc.integer({ min: 0, max: 20_000 }).map((ms) => ms / 1_000),
      sttSeconds: fc.integer({ min: 0, max: 9_000 }).map((ms) => ms / 1_000),
      ttsCharacters: fc.nat({ max: 400 }),
    }),
    { maxLength: 30 },
  );

  it('the meter of a call charges the same total for use in pieces as for the use as a whole', () => {
    fc.assert(
      fc.property(pieces, (used) => {
        const meter = new CallMeter({ card: RATE_CARD, line: OUTBOUND });
        let lineSeconds = 0;
        let costRaw = 0n;
        for (const { seconds, ...speech } of used) {
          lineSeconds += seconds;
          costRaw += meter.charge({ lineSeconds, ...speech }).costRaw;
        }
        expect(costRaw).toBe(sumOf(meter.legs));
        expect(meter.legs).toEqual(legCosts(RATE_CARD, OUTBOUND, meter.use));
      }),
    );
  });

  it('the meter of a call continues where the journal of another process ends', () => {
    const first = new CallMeter({ card: RATE_CARD, line: OUTBOUND });
    const { usage, costRaw } = first.charge({ lineSeconds: 7, sttSeconds: 2, ttsCharacters: 50 });
    const before = useOfJournal(usage);
    const second = new CallMeter({ card: RATE_CARD, line: OUTBOUND, before });
    expect(second.legs).toEqual(first.legs);
    const more = second.charge({ lineSeconds: 12 });
    expect(costRaw + more.costRaw).toBe(sumOf(second.legs));
  });

  it('the meter of a call charges no increment twice, at whatever instants other processes take over', () => {
    // Just after a second is where a length that is rounded and one that is not are billed differently.
    const instant = fc
      .tuple(
        fc.nat({ max: 40 }),
        fc.oneof(fc.constant(0), fc.double({ min: 0, max: 2e-3, noNaN: true }), part()),
      )
      .map(([seconds, beyond]) => seconds + beyond);
    const process = fc.array(
      fc.record({ instant, sttSeconds: part(), ttsCharacters: fc.nat(99) }),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    const step = fc.constantFrom(1 as const, 6 as const, 60 as const);
    const recorded = fc.option(
      fc.record({ fromSeconds: part(), toSeconds: fc.option(instant, { nil: undefined }) }),
      { nil: undefined },
    );
    fc.assert(
      fc.property(fc.array(process, { maxLength: 8 }), step, recorded, (processes, steps, span) => {
        const card = { ...RATE_CARD, recordingMinuteRaw: 2_500n, incrementSeconds: steps };
        const journal: Record<string, number> = {};
        let chargedRaw = 0n;
        let oldest = 0;
        let legs = legCosts(card, OUTBOUND, NOTHING);
        for (const charges of processes) {
          const before = useOfJournal(journal);
          const meter = new CallMeter({ card, line: OUTBOUND, before, recorded: span });
          expect(sumOf(meter.legs)).toBe(chargedRaw);
          for (const { instant: lineSeconds, ...speech } of charges) {
            const { costRaw, usage } = meter.charge({ lineSeconds, ...speech });
            expect(costRaw).toBeGreaterThanOrEqual(0n);
            chargedRaw += costRaw;
            addUsage(journal, usage);
            oldest = Math.max(oldest, lineSeconds);
          }
          legs = meter.legs;
        }
        expect(sumOf(legs)).toBe(chargedRaw);
        const recordedSeconds = secondsRecorded(span, oldest);
        const line = { ...NOTHING, lineSeconds: oldest, recordedSeconds };
        expect(legs.transportRaw).toBeLessThanOrEqual(legCosts(card, OUTBOUND, line).transportRaw);
      }),
      { numRuns: 200 },
    );
  });

  describe('of a call that is recorded', () => {
    const card = { ...RATE_CARD, recordingMinuteRaw: 6_000n };
    const recordedRaw = (seconds: number) => 100n * BigInt(seconds);
    const lineRaw = (seconds: number) =>
      legCosts(RATE_CARD, OUTBOUND, { ...NOTHING, lineSeconds: seconds }).transportRaw;

    it('the meter of a recorded call charges the recording from its begin to its end, and nothing before and after', () => {
      const meter = new CallMeter({ card, line: OUTBOUND });
      meter.charge({ lineSeconds: 10 });
      expect(meter.legs.transportRaw).toBe(lineRaw(10));
      meter.recordingBegan(20);
      meter.charge({ lineSeconds: 60 });
      expect(meter.legs.transportRaw).toBe(lineRaw(60) + recordedRaw(40));
      meter.recordingEnded(80);
      meter.charge({ lineSeconds: 120 });
      expect(meter.legs.transportRaw).toBe(lineRaw(120) + recordedRaw(60));
    });

    it('the meter of a recorded call continues at another process without a second charged twice', () => {
      const first = new CallMeter({ card, line: OUTBOUND });
      first.recordingBegan(20);
      const { usage, costRaw } = first.charge({ lineSeconds: 60 });
      expect(usage.recording_second).toBe(40);
      const second = new CallMeter({
        card,
        line: OUTBOUND,
        before: useOfJournal(usage),
        recorded: { fromSeconds: 20, toSeconds: undefined },
      });
      const more = second.charge({ lineSeconds: 120 });
      expect(costRaw + more.costRaw).toBe(lineRaw(120) + recordedRaw(100));
    });

    it('the meter of a recorded call quotes an expected recording, until it is known that none will begin', () => {
      const meter = new CallMeter({ card, line: OUTBOUND, expectsRecording: true });
      const minute = { lineSeconds: 60, sttSeconds: 0, ttsCharacters: 0 };
      expect(meter.quoteRaw(minute)).toBe(lineRaw(60) + recordedRaw(60));
      meter.recordingEnded(5);
      expect(meter.quoteRaw(minute)).toBe(lineRaw(60));
    });
  });

  it('the meter of a call charges nothing when the clock is behind', () => {
    const meter = new CallMeter({ card: RATE_CARD, line: OUTBOUND });
    meter.charge({ lineSeconds: 30 });
    expect(meter.charge({ lineSeconds: 10 }).costRaw).toBe(0n);
  });

  it("the quote of a call's meter equals its next charge, and charges nothing", () => {
    const meter = new CallMeter({ card: RATE_CARD, line: OUTBOUND });
    const use = { lineSeconds: 30, sttSeconds: 3, ttsCharacters: 100 };
    const quoteRaw = meter.quoteRaw(use);
    expect(meter.quoteRaw(use)).toBe(quoteRaw);
    expect(meter.charge(use).costRaw).toBe(quoteRaw);
  });
});

it('the legs of a call that was charged less than its cost are cut from speech first, and sum to the charge', () => {
  const legs = { transportRaw: 100n, sttRaw: 20n, ttsRaw: 30n };
  expect(legsWithin(legs, 150n)).toEqual(legs);
  expect(legsWithin(legs, 130n)).toEqual({ transportRaw: 100n, sttRaw: 20n, ttsRaw: 10n });
  expect(legsWithin(legs, 105n)).toEqual({ transportRaw: 100n, sttRaw: 5n, ttsRaw: 0n });
  expect(legsWithin(legs, 0n)).toEqual({ transportRaw: 0n, sttRaw: 0n, ttsRaw: 0n });
});
