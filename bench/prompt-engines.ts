import type { GuideEngine, TtsEngine } from '../src/engines/engine.ts';
import { createFakeEngines, tone } from '../test/support/voice-fakes.ts';

/** At the rate of a telephone line: what remains to be resampled is what callers say. */
export const SECOND = tone(1_000, 8_000);

/** Two sentences, which are spoken for a second each: agents speak about as much as their callers. */
const guide: GuideEngine = {
  async reply() {
    const text = 'You were heard well and this is one second. This is the other one.';
    return { text, usage: { inputTokens: 10, outputTokens: 15 } };
  },
};

const voice: TtsEngine = {
  async *speak({ text }) {
    for (const sentence of text.match(/[^.]+\./g) ?? []) {
      yield { text: sentence.trim(), sampleRateHz: 8_000, pcm: SECOND };
    }
  },
};

/** Engines that answer at once, with room for so many callers, and count how often the VAD model is asked. */
export function createPromptEngines(callers: number) {
  let windows = 0;
  /** Loud is speech. */
  const vad = {
    open: async () => ({
      async probability(window: Int16Array) {
        windows++;
        let peak = 0;
        for (let i = 0; i < window.length; i++) peak = Math.max(peak, window[i] as number);
        return peak > 1_000 ? 0.9 : 0.02;
      },
      close() {},
    }),
  };
  const engines = { ...createFakeEngines(), guide, vad, tts: { flite: voice } };
  engines.stt.pocketsphinx.streams = callers;
  return { engines, windows: () => windows };
}
