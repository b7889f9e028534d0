import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HEARING_FRAME, HEARING_HZ, lineHzOf } from '../../../../media/hearing.ts';
import { FrameDecoder } from '../../../../media/line/frame-decoder.ts';
import { encodeMulaw } from '../../../../media/mulaw.ts';
import { clampSample } from '../../../../media/pcm.ts';
import { RecentSound } from '../../../../media/recent-sound.ts';
import { Resampler } from '../../../../media/resample.ts';
import type { VadEvent } from '../../../../media/vad.ts';
import { EngineBusy, type VadEngine } from '../../../../src/engines/engine.ts';
import { createEngineFiles } from '../../../../src/engines/threads/engine-files.ts';
import { loadSpeechGates } from '../../../../src/engines/vad/fvad-gate.ts';
import { loadSilero } from '../../../../src/engines/vad/silero.ts';
import { type DetectorDeps, VoiceDetector } from '../../../../src/engines/vad/vad-detector.ts';
import { loadRecording, RECORDINGS } from '../../../support/speech.ts';
import { noise } from '../../media/noise.ts';
import { conversation, recording } from '../asr/speech-scene.ts';

const gates = await loadSpeechGates();
const silero = loadSilero(createEngineFiles().sileroWeights());
const SENTENCES = ['librivox-0880', 'librivox-0890', 'librivox-0930'];

/** The model without its worker. */
function localEngine(closed: { count: number } = { count: 0 }): VadEngine {
  return {
    async open() {
      const stream = silero.open();
      return {
        probability: async (window) => stream.probability(window),
        close: () => {
          closed.count++;
        },
      };
    },
  };
}

/** Sound at 16 kHz as frames; what fills none at the end is left out. */
function framesOf(pcm: Int16Array): Int16Array[] {
  return Array.from({ length: Math.floor(pcm.length / HEARING_FRAME) }, (_, i) =>
    pcm.subarray(i * HEARING_FRAME, (i + 1) * HEARING_FRAME),
  );
}

/** A detector and what gives it a frame, after its sound has it. */
function detectorOf(deps: Omit<DetectorDeps, 'sound'>, sound = new RecentSound()) {
  const detector = new VoiceDetector({ ...deps, sound });
  const push = (frame: Int16Array) => {
    sound.push(frame);
    detector.push(frame);
  };
  return { detector, push };
}

async function turnsIn(
  frames: readonly Int16Array[],
  options: { engine?: VadEngine; withGate?: boolean } = {},
) {
  const { engine, withGate = true } = options;
  const events: VadEvent[] = [];
  const lineHz = lineHzOf((frames[0]?.length ?? 0) * 50);
  const { detector, push } = detectorOf(
    {
      ...(withGate ? { gate: gates.open(lineHz) } : {}),
      ...(engine === undefined ? {} : { engine }),
      onEvent: (event) => events.push(event),
    },
    new RecentSound({ lineHz }),
  );
  for (const frame of frames) {
    push(frame);
    await detector.settled();
  }
  const counters = detector.counters;
  detector.close();
  return { events, counters };
}

/** The same call over a telephone: 8 kHz, mu-law, comfort noise on the line. */
function overTelephone(pcm: Int16Array, hiss: number): Uint8Array {
  const resampler = new Resampler(HEARING_HZ, 8_000);
  const line = new Int16Array(resampler.outputSamples(pcm.length));
  resampler.push(pcm, line);
  const comfort = noise(line.length, hiss);
  for (let i = 0; i < line.length; i++) {
    line[i] = clampSample((line[i] as number) + (comfort[i] as number));
  }
  const codes = new Uint8Array(line.length);
  encodeMulaw(line, codes);
  return codes;
}

/** What is heard of a telephone whose bytes come in pieces of `cut`. */
function telephoneFrames(codes: Uint8Array, cut = 160): Int16Array[] {
  const frames: Int16Array[] = [];
  const decoder = new FrameDecoder({
    encoding: 'mulaw',
    sampleRateHz: 8_000,
    listener: { frame: (frame) => void frames.push(frame.slice()) },
  });
  for (let at = 0; at < codes.length; at += cut) decoder.push(codes.subarray(at, at + cut));
  return frames;
}

function expectTurns(events: readonly VadEvent[], spoken: { fromMs: number; toMs: number }[]) {
  expect(events.map((event) => event.kind)).toEqual(
    spoken.flatMap(() => ['speech_started', 'speech_stopped']),
  );
  spoken.forEach(({ fromMs, toMs }, i) => {
    const [started, stopped] = events.slice(2 * i, 2 * i + 2);
    if (started?.kind !== 'speech_started' || stopped?.kind !== 'speech_stopped') return;
    // The recordings begin and end with up to 0.4 s of room tone.
    expect(started.startMs).toBeGreaterThan(fromMs - 450);
    expect(started.startMs).toBeLessThan(fromMs + 250);
    expect(stopped.lastVoiceMs).toBeGreaterThan(toMs - 700);
    expect(stopped.endMs).toBeLessThan(toMs + 600);
  });
}

describe('the voice detector', () => {
  const { pcm, spoken } = conversation(SENTENCES, 1_200);
  const frames = framesOf(pcm);

  it('the voice detector hears each sentence of a human voice as one turn', async () => {
    const { events, counters } = await turnsIn(frames, { engine: localEngine() });
    expectTurns(events, spoken);
    expect(counters).toMatchObject({ gateDecisions: 0, skippedSamples: 0, modelGone: false });
  });

  it('the voice detector hears turns on a noisy telephone line with the model, the gate alone or loudness alone', async () => {
    const line = telephoneFrames(overTelephone(pcm, 30));
    const ways = [{ engine: localEngine() }, {}, { withGate: false }];
    for (const way of ways) {
      const { events } = await turnsIn(line, way);
      expectTurns(events, spoken);
    }
  });

  it('the voice detector hears the same turns however the sound was cut', async () => {
    const line = overTelephone(pcm, 10).subarray(0, 8 * 8_000);
    const whole = await turnsIn(telephoneFrames(line));
    expect(whole.events.length).toBeGreaterThan(1);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5_000 }), async (cut) => {
        const { events } = await turnsIn(telephoneFrames(line, cut));
        expect(events).toEqual(whole.events);
      }),
      { numRuns: 8 },
    );
  });

  it('the voice detector sends the model nothing while the line is silent', async () => {
    const { events, counters } = await turnsIn(framesOf(noise(10 * HEARING_HZ, 8)), {
      engine: localEngine(),
    });
    expect(events).toEqual([]);
    expect(counters.judged).toBe(0);
  });

  it('the voice detector goes on with the gate when the model is busy, breaks or never answers', async () => {
    const refusing: VadEngine = { open: () => Promise.reject(new EngineBusy(1)) };
    const closed = { count: 0 };
    const breaking: VadEngine = {
      open: async () => ({
        probability: () => Promise.reject(new Error('gone')),
        close: () => {
          closed.count++;
        },
      }),
    };
    const unanswering: VadEngine = {
      open: async () => ({ probability: async () => Number.NaN, close() {} }),
    };
    for (const engine of [refusing, breaking, unanswering]) {
      const { events, counters } = await turnsIn(frames, { engine });
      expectTurns(events, spoken);
      expect(counters.gateDecisions).toBeGreaterThan(0);
      expect(counters.judged).toBe(0);
      expect(counters.modelGone).toBe(engine !== unanswering);
    }
    expect(closed.count).toBe(1);
  });

  it('the voice detector has at most three windows pending at a model that hangs', async () => {
    let asked = 0;
    const events: VadEvent[] = [];
    const { detector, push } = detectorOf({
      gate: gates.open(),
      engine: {
        open: async () => ({
          probability: () => {
            asked++;
            return new Promise(() => {});
          },
          close() {},
        }),
      },
      onEvent: (event) => events.push(event),
    });
    for (const frame of framesOf(recording('librivox-0870'))) {
      push(frame);
      await Promise.resolve();
    }
    expect(asked).toBe(3);
    expect(detector.counters.skippedSamples).toBeGreaterThan(HEARING_HZ);
    expect(events[0]?.kind).toBe('speech_started');
    detector.close();
  });

  it('a closed voice detector reports nothing, not even on a late result, and gives its model stream back', async () => {
    const speech = framesOf(recording('librivox-0870').subarray(HEARING_HZ));
    for (const closes of [true, false]) {
      let closed = 0;
      const answers: ((probability: number) => void)[] = [];
      const events: VadEvent[] = [];
      const { detector, push } = detectorOf({
        engine: {
          open: async () => ({
            probability: () => new Promise((answer) => answers.push(answer)),
            close: () => {
              closed++;
            },
          }),
        },
        onEvent: (event) => events.push(event),
      });
      // 100 ms: too little for the gate to decide, enough for the model to have been asked.
      for (const frame of speech.slice(0, 5)) {
        push(frame);
        await Promise.resolve();
      }
      expect(events).toEqual([]);
      expect(answers.length).toBeGreaterThanOrEqual(2);
      if (closes) {
        detector.close();
        detector.close();
        for (const frame of speech.slice(5, 100)) push(frame);
      }
      for (const answer of answers) answer(1);
      await new Promise(setImmediate);
      expect(events.map(({ kind }) => kind)).toEqual(closes ? [] : ['speech_started']);
      expect(closed).toBe(closes ? 1 : 0);
      detector.close();
    }
  });

  it('the voice detector goes on with the gate when its event listener throws', async () => {
    let thrown = 0;
    const { detector, push } = detectorOf({
      engine: { open: async () => ({ probability: async () => 1, close() {} }) },
      onEvent: () => {
        thrown++;
        throw new Error('a bug of the listener');
      },
    });
    for (const frame of framesOf(recording('librivox-0870').subarray(HEARING_HZ)).slice(0, 20)) {
      push(frame);
      await new Promise(setImmediate);
    }
    await detector.settled();
    expect(thrown).toBe(1);
    expect(detector.counters.modelGone).toBe(true);
    expect(detector.speaking).toBe(true);
    detector.close();
  });

  it('the voice detector forgets a manually committed turn and hears the next one', async () => {
    const events: VadEvent[] = [];
    const { detector, push } = detectorOf({
      gate: gates.open(),
      onEvent: (event) => events.push(event),
    });
    const speech = framesOf(recording('librivox-0870'));
    for (const frame of speech.slice(0, 75)) push(frame);
    expect(detector.speaking).toBe(true);
    detector.reset();
    expect(detector.speaking).toBe(false);
    for (const frame of speech.slice(75, 187)) push(frame);
    expect(events.map((event) => event.kind)).toEqual(['speech_started', 'speech_started']);
    expect(events[1]).toMatchObject({ startMs: 1_500 });
    detector.close();
  });

  it('the voice detector hears soft speech on a silent line', async () => {
    let heard = 0;
    for (const { file } of RECORDINGS) {
      const voice = loadRecording(file).subarray(0, 10 * HEARING_HZ);
      const line = new Int16Array(voice.length + 2 * HEARING_HZ);
      // About -56 dB of full scale.
      for (let i = 0; i < voice.length; i++) {
        const at = i + 2 * HEARING_HZ;
        line[at] = Math.round((voice[i] as number) * 0.02);
      }
      const { events } = await turnsIn(framesOf(line));
      if (events.length > 0) heard++;
    }
    expect(heard).toBeGreaterThanOrEqual(7);
  });
});
