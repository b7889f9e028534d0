import {
  EngineBusy,
  type EnginePlace,
  type GuideEngine,
  type GuideReply,
  type LocalEngines,
  type SharedSttEngine,
  type SpeechChunk,
  type SttListener,
  type TtsEngine,
  type VadEngine,
} from '../../src/engines/engine.ts';
import type { StopSignal } from '../../src/kernel/stop-signal.ts';
import { decodingHere } from './decoding-here.ts';

/** Hears `w1 w2 …`: one interim word for each half second of audio, all of them final at the end. */
class FakeStt implements SharedSttEngine {
  /** Streams that may be open at a time. */
  streams: number;
  inUse = 0;
  opened = 0;
  heardSamples = 0;
  grammar: string | undefined;
  /** Fails the stream after this many samples. */
  breakAfterSamples = Number.POSITIVE_INFINITY;
  /** Set by a test: awaited at the end of every utterance, before it is transcribed. */
  decoding: (() => Promise<void>) | undefined;
  /** Set by a test: the interim words after so many half seconds; empty ones are not sent. */
  interim: ((words: number) => string) | undefined;
  /** What the next utterances turn out to say, instead of counted words. */
  readonly script: string[] = [];

  constructor(streams = 4) {
    this.streams = streams;
  }

  get places() {
    return { taken: this.listeners, refused: 0, most: this.mostListeners };
  }

  /** Listeners that have a place, of as many as there are. */
  listeners = 0;
  mostListeners = Number.POSITIVE_INFINITY;

  takePlace(isUnderWay = false): EnginePlace {
    if (!isUnderWay && this.listeners >= this.mostListeners) throw new EngineBusy(5);
    this.listeners += 1;
    let isHeld = true;
    return {
      release: () => {
        if (isHeld) this.listeners -= 1;
        isHeld = false;
      },
    };
  }

  async open(options: { listener: SttListener; grammar?: string }) {
    if (this.inUse >= this.streams) throw new EngineBusy(5);
    this.inUse += 1;
    this.opened += 1;
    this.grammar = options.grammar;
    const { listener } = options;
    let samples = 0;
    let words = 0;
    let open = true;
    const counted = () => Array.from({ length: words }, (_, i) => `w${i + 1}`).join(' ');
    return {
      push: (pcm: Int16Array) => {
        if (!open) return;
        samples += pcm.length;
        this.heardSamples += pcm.length;
        if (this.heardSamples > this.breakAfterSamples) {
          listener.failed(new Error('the decoder trapped'));
          return;
        }
        const heard = Math.floor(samples / 8_000);
        if (heard === words) return;
        words = heard;
        const text = this.interim?.(words) ?? counted();
        if (text !== '') listener.transcript({ text, isFinal: false });
      },
      endUtterance: async () => {
        await this.decoding?.();
        const text = this.script.shift() ?? counted();
        if (open && text !== '') listener.transcript({ text, isFinal: true });
        samples = 0;
        words = 0;
      },
      close: () => {
        if (open) this.inUse -= 1;
        open = false;
      },
    };
  }
}

/** Says each sentence as a 16 kHz tone of 100 ms a word. `hold` keeps the second sentence back. */
class FakeTts implements TtsEngine {
  readonly voices = ['rms'];
  spoken: string[] = [];
  /** Set by a test: awaited before every sentence but the first of all. */
  between: (() => Promise<void>) | undefined;

  async *speak(request: { text: string; signal: StopSignal }): AsyncIterable<SpeechChunk> {
    const sentences = request.text.match(/[^.!?]+[.!?]?/g) ?? [];
    for (const sentence of sentences) {
      if (this.spoken.length > 0) await this.between?.();
      if (request.signal.aborted) return;
      const text = sentence.trim();
      this.spoken.push(text);
      yield { text, sampleRateHz: 16_000, pcm: tone(text.split(/\s+/).length * 100, 16_000) };
    }
  }
}

/** Loud is speech. */
class FakeVad implements VadEngine {
  async open() {
    return {
      async probability(frame: Int16Array) {
        return frame.some((sample) => Math.abs(sample) > 1_000) ? 0.9 : 0.02;
      },
      close() {},
    };
  }
}

class FakeGuide implements GuideEngine {
  answers: GuideReply[] = [];
  readonly asked: Parameters<GuideEngine['reply']>[0][] = [];
  /** Set by a test: awaited before every reply. */
  thinking: (() => Promise<void>) | undefined;

  async reply(request: Parameters<GuideEngine['reply']>[0]): Promise<GuideReply> {
    this.asked.push(request);
    await this.thinking?.();
    const last = request.messages.at(-1)?.content ?? '';
    const reply = this.answers.shift() ?? usualAnswer(request, last);
    const inputTokens = request.messages.reduce((sum, m) => sum + this.countTokens(m.content), 0);
    return { usage: { inputTokens, outputTokens: this.countTokens(reply.text) }, ...reply };
  }

  countTokens(text: string): number {
    return text.split(/\s+/).filter((word) => word !== '').length;
  }
}

function usualAnswer(
  { mustCall, tools }: Parameters<GuideEngine['reply']>[0],
  last: string,
): Omit<GuideReply, 'usage'> {
  const name = mustCall === true ? tools?.[0]?.name : undefined;
  return name === undefined
    ? { text: `You said ${last}. Is that so?` }
    : { text: '', toolCall: { name, argumentsJson: '{}' } };
}

export type FakeEngines = Pick<
  LocalEngines,
  'stt' | 'tts' | 'vad' | 'decoding' | 'guide' | 'missing' | 'warmUp'
> & {
  readonly stt: { readonly pocketsphinx: FakeStt; readonly grammar: FakeStt };
  readonly tts: { readonly flite: FakeTts };
  readonly guide: FakeGuide;
  /** Engines whose package a test takes away. */
  readonly gone: Set<string>;
};

export function createFakeEngines(): FakeEngines {
  const gone = new Set<string>();
  return {
    stt: { pocketsphinx: new FakeStt(), grammar: new FakeStt() },
    tts: { flite: new FakeTts() },
    vad: new FakeVad(),
    decoding: decodingHere,
    guide: new FakeGuide(),
    gone,
    warmUp: () => {},
    missing: (engine) =>
      gone.has(engine) ? `the package of ${engine} is not installed` : undefined,
  };
}

/** A 440 Hz tone, loud enough to pass for speech where loudness decides. */
export function tone(ms: number, sampleRateHz: number): Int16Array {
  return Int16Array.from({ length: Math.round((ms * sampleRateHz) / 1_000) }, (_, i) =>
    Math.round(12_000 * Math.sin((2 * Math.PI * 440 * i) / sampleRateHz)),
  );
}

export const silence = (ms: number, sampleRateHz: number): Int16Array =>
  new Int16Array(Math.round((ms * sampleRateHz) / 1_000));

export const bytesOf = (pcm: Int16Array): Uint8Array =>
  new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
