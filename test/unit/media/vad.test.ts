import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TurnDetector, type VadEvent, type VadOptions } from '../../../media/vad.ts';
import { noise } from './noise.ts';

const LOUD = noise(160, 3_000);
const QUIET = noise(160, 10);

type Scene = {
  readonly options?: Partial<VadOptions>;
  /** From when to when the line is loud. */
  readonly loud: readonly (readonly [fromMs: number, toMs: number])[];
  readonly lengthMs: number;
  /** What the model says about the window that ends then; nothing when it does not answer. */
  readonly model?: (endMs: number) => number | undefined;
  readonly delayMs?: number;
  /** Each frame as the line has it, where loud and quiet are not enough. */
  readonly frame?: (atMs: number) => Int16Array;
};

/** Plays a scene; answers arrive `delayMs` after the sound they speak of. */
function play(scene: Scene) {
  const detector = new TurnDetector(scene.options);
  const events: (VadEvent & { atMs: number })[] = [];
  const pending: { endMs: number; value: number; dueMs: number }[] = [];
  let asked = 0;
  const tell = (event: VadEvent | undefined) => {
    if (event !== undefined) events.push({ ...event, atMs: detector.nowMs });
  };
  for (let atMs = 0; atMs < scene.lengthMs; atMs += 20) {
    const isLoud = scene.loud.some(([from, to]) => atMs >= from && atMs < to);
    tell(detector.frame(scene.frame?.(atMs) ?? (isLoud ? LOUD : QUIET)));
    // Windows are longer than frames: every other frame completes one.
    if (detector.wantsProbability && detector.nowMs % 40 === 0) {
      asked++;
      const value = scene.model?.(detector.nowMs);
      const dueMs = detector.nowMs + (scene.delayMs ?? 20);
      if (value !== undefined) pending.push({ endMs: detector.nowMs, value, dueMs });
    }
    while ((pending[0]?.dueMs ?? Infinity) <= detector.nowMs) {
      const answer = pending.shift();
      if (answer !== undefined) tell(detector.probability(answer.value, answer.endMs));
    }
  }
  return { events, asked, detector };
}

const during = (from: number, to: number) => (endMs: number) =>
  endMs > from && endMs <= to ? 0.95 : 0.02;

describe('turn detection', () => {
  it('turn detection opens a turn before its first sound and closes it after the configured silence', () => {
    const { events } = play({
      loud: [[1_000, 2_000]],
      lengthMs: 4_000,
      model: during(1_000, 2_000),
    });
    expect(events).toMatchObject([
      { kind: 'speech_started', startMs: 700 },
      { kind: 'speech_stopped', lastVoiceMs: 2_000, endMs: 2_500 },
    ]);
    expect(events[0]?.atMs).toBeLessThanOrEqual(1_100);
    expect(events[1]?.atMs).toBe(2_500);
  });

  it('turn detection obeys threshold, prefix padding and silence duration', () => {
    const options = { threshold: 0.9, prefixPaddingMs: 100, silenceDurationMs: 200 };
    const scene: Scene = { options, loud: [[1_000, 1_600]], lengthMs: 3_000 };
    expect(play({ ...scene, model: () => 0.85 }).events).toEqual([]);
    expect(play({ ...scene, model: during(1_000, 1_600) }).events).toMatchObject([
      { startMs: 900 },
      { lastVoiceMs: 1_600, endMs: 1_800 },
    ]);
  });

  it('turn detection never opens a turn for noise that the model does not take for speech', () => {
    const { events, asked } = play({
      loud: [[1_000, 3_000]],
      lengthMs: 6_000,
      model: () => 0.1,
    });
    expect(events).toEqual([]);
    expect(asked).toBeGreaterThan(40);
  });

  it('turn detection sends the model nothing in silence', () => {
    expect(play({ loud: [], lengthMs: 10_000, model: () => 0.9 }).asked).toBe(0);
  });

  it('turn detection lets the gate decide when the model never answers, or too late', () => {
    const scene: Scene = { loud: [[1_000, 2_000]], lengthMs: 4_000 };
    const never = play({ ...scene, model: () => undefined });
    const late = play({ ...scene, model: during(1_000, 2_000), delayMs: 900 });
    const busy = play({ ...scene, model: () => Number.NaN });
    for (const { events, detector } of [never, late, busy]) {
      expect(events.map((event) => event.kind)).toEqual(['speech_started', 'speech_stopped']);
      expect(events[0]?.atMs).toBeLessThanOrEqual(1_240);
      expect(events[1]?.atMs).toBeLessThanOrEqual(3_500);
      expect(detector.gateDecisions).toBeGreaterThan(0);
    }
    const none = play({ ...scene, options: { answerWithinMs: 0 } });
    expect(none.events).toMatchObject([{ startMs: 700, atMs: 1_080 }, { endMs: 2_500 }]);
    expect(none.asked).toBe(0);
    expect(none.detector.gateDecisions).toBe(0);
  });

  it('turn detection lets the gate end a turn when the model falls silent in the middle of it', () => {
    const { events } = play({
      loud: [[1_000, 3_000]],
      lengthMs: 5_000,
      model: (endMs) => (endMs < 1_500 ? 0.95 : undefined),
    });
    expect(events).toMatchObject([{ startMs: 700 }, { lastVoiceMs: 3_000, endMs: 3_500 }]);
  });

  it('turn detection bridges pauses shorter than the configured silence', () => {
    const { events } = play({
      loud: [
        [1_000, 1_500],
        [1_900, 2_400],
      ],
      lengthMs: 4_000,
      options: { answerWithinMs: 0 },
    });
    expect(events).toMatchObject([{ startMs: 700 }, { endMs: 2_900 }]);
  });

  it('turn detection ends a turn in noise that never stops, with the model and without', () => {
    const frame = (atMs: number) =>
      noise(160, atMs >= 1_000 && atMs < 2_000 ? 4_000 : atMs < 500 ? 5 : 400, atMs + 1);
    const scene: Scene = { loud: [], lengthMs: 9_000, frame };
    const judged = play({ ...scene, model: during(1_000, 2_000) });
    expect(judged.events.map((event) => event.kind)).toEqual(['speech_started', 'speech_stopped']);
    expect(judged.events[1]?.atMs).toBeLessThanOrEqual(2_560);

    const alone = play({ ...scene, options: { answerWithinMs: 0 } });
    expect(alone.events.map((event) => event.kind)).toEqual(['speech_started', 'speech_stopped']);
    expect(alone.events[1]?.atMs).toBeLessThanOrEqual(6_000);
  });

  it('turn detection takes no click for a turn', () => {
    const { events } = play({
      loud: [[1_000, 1_040]],
      lengthMs: 3_000,
      options: { answerWithinMs: 0 },
    });
    expect(events).toEqual([]);
  });

  it('turn detection gives a turn no sound of the previous turn, however long the padding', () => {
    const { events } = play({
      loud: [
        [1_000, 1_500],
        [1_900, 2_500],
      ],
      lengthMs: 4_000,
      options: { answerWithinMs: 0, silenceDurationMs: 200, prefixPaddingMs: 2_000 },
    });
    expect(events).toMatchObject([
      { startMs: 0 },
      { endMs: 1_700 },
      { startMs: 1_700 },
      { endMs: 2_700 },
    ]);
  });

  it('turn detection forgets a turn that was committed by hand', () => {
    const detector = new TurnDetector({ answerWithinMs: 0 });
    for (let i = 0; i < 10; i++) detector.frame(LOUD);
    expect(detector.speaking).toBe(true);
    detector.reset();
    expect(detector.speaking).toBe(false);
    for (let i = 0; i < 100; i++) expect(detector.frame(QUIET)).toBeUndefined();
  });

  it('turn detection alternates starts and stops with times that never go back, whatever its input', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            loud: fc.boolean(),
            gate: fc.boolean(),
            value: fc.option(fc.oneof(fc.double({ min: 0, max: 1 }), fc.constant(Number.NaN))),
            lagMs: fc.integer({ min: -100, max: 400 }),
          }),
          { maxLength: 300 },
        ),
        fc.integer({ min: 0, max: 800 }),
        (steps, silenceDurationMs) => {
          const detector = new TurnDetector({ silenceDurationMs });
          const events: VadEvent[] = [];
          for (const { loud, gate, value, lagMs } of steps) {
            const inLine = detector.frame(loud ? LOUD : QUIET, { isSpeech: () => gate });
            if (inLine !== undefined) events.push(inLine);
            if (value === null) continue;
            const later = detector.probability(value, detector.nowMs - lagMs);
            if (later !== undefined) events.push(later);
          }
          let sinceMs = 0;
          events.forEach((event, i) => {
            expect(event.kind).toBe(i % 2 === 0 ? 'speech_started' : 'speech_stopped');
            const atMs = 'startMs' in event ? event.startMs : 'endMs' in event ? event.endMs : -1;
            expect(atMs).toBeGreaterThanOrEqual(sinceMs);
            expect(atMs).toBeLessThanOrEqual(detector.nowMs);
            sinceMs = atMs;
          });
        },
      ),
    );
  });

  it('turn detection gives the gate every frame louder than the line noise and a quarter of the noise, no digital silence', () => {
    const asked: Int16Array[] = [];
    const gate = { isSpeech: (frame: Int16Array) => asked.push(frame) > 0 };
    const detector = new TurnDetector();
    const still = new Int16Array(320);
    const noisy = new Int16Array(320).fill(1);
    const noise = [noisy, still, noisy, noisy, still, noisy];
    for (const frame of [...noise, LOUD, ...noise, LOUD]) detector.frame(frame, gate);
    expect(asked).toEqual([noisy, LOUD, noisy, LOUD]);
  });
});
