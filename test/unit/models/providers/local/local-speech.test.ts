import { describe, expect, it } from 'vitest';
import {
  EngineBusy,
  EngineInputRefused,
  EngineMissing,
  type SoundEncoding,
  type TtsEngine,
} from '../../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../../src/engines/limits.ts';
import { createLocalSpeechRail } from '../../../../../src/models/providers/local/local-speech.ts';
import { StreamBroken } from '../../../../../src/models/providers/openai/answer-reader.ts';
import {
  SPEECH_FORMATS,
  type SpeechCall,
} from '../../../../../src/models/providers/speech-rail.ts';
import { SPEECH_LIMITS } from '../../../../../src/models/speech/limits.ts';

type Asked = Parameters<TtsEngine['speak']>[0];

let encodersOpen = 0;
/** Makes mp3, in which a piece of sound is a byte. */
const ENCODING: SoundEncoding = {
  makes: (format) => format === 'mp3',
  async open() {
    encodersOpen++;
    return {
      push: async () => Uint8Array.of(1),
      finish: async () => Uint8Array.of(2),
      close() {
        encodersOpen--;
      },
    };
  },
};

/** Says a second a word; a word may be an error. */
function engineOf(words: readonly (number | Error)[]) {
  const asked: Asked[] = [];
  const made = { words: 0 };
  const engine: TtsEngine = {
    async *speak(request) {
      asked.push(request);
      for (const word of words) {
        if (request.signal.aborted) return;
        if (word instanceof Error) throw word;
        made.words++;
        yield { pcm: new Int16Array(24_000).fill(word), sampleRateHz: 24_000, text: 'x' };
      }
    },
  };
  const rail = createLocalSpeechRail({ engine, encoding: ENCODING });
  const speak = (more: Partial<SpeechCall> = {}, signal = new AbortController().signal) => {
    const call: SpeechCall = {
      model: 'flite',
      input: 'x',
      format: 'pcm',
      wantsUsage: false,
      body: {},
      ...more,
    };
    return rail.speak(call, signal);
  };
  const begun = async (more: Partial<SpeechCall> = {}, signal?: AbortSignal) => {
    const outcome = await speak(more, signal);
    if (outcome.kind !== 'completed') throw new Error(outcome.kind);
    return outcome;
  };
  return { asked, made, rail, speak, begun };
}

describe('speech of the engine in this server', () => {
  it('the local speech rail makes the formats that need no encoder and those with an encoder', () => {
    const { makes } = engineOf([]).rail;
    expect(SPEECH_FORMATS.filter(makes)).toEqual(['mp3', 'wav', 'pcm']);
  });

  it('the local speech rail releases its encoder at the end and when the reader leaves', async () => {
    const { begun } = engineOf([1, 2]);
    const heard = await begun({ format: 'mp3' });
    expect(heard.contentType).toBe('audio/mpeg');
    expect(encodersOpen).toBe(1);
    while ((await heard.sound.next()) !== undefined);
    expect(encodersOpen).toBe(0);
    const left = await begun({ format: 'mp3' });
    expect(encodersOpen).toBe(1);
    left.sound.stop();
    await expect.poll(() => encodersOpen).toBe(0);
  });

  it('the local speech rail delivers the whole audio under its content type', async () => {
    const { begun } = engineOf([1, 2]);
    for (const [format, type, head] of [
      ['pcm', 'audio/pcm', 0],
      ['wav', 'audio/wav', 44],
    ] as const) {
      const { contentType, sound } = await begun({ format });
      expect(contentType).toBe(type);
      let bytes = 0;
      for (let next = await sound.next(); next; next = await sound.next()) bytes += next.length;
      expect(bytes).toBe(head + 2 * 48_000);
      expect(sound.usage()).toBeNull();
    }
  });

  it('the local speech rail passes on the text, the voice in either spelling, and the speed', async () => {
    const { asked, begun } = engineOf([1]);
    await begun({ input: 'Hello.', body: { voice: 'slt', speed: 2 } });
    await begun({ body: { voice: { id: 'awb' } } });
    await begun({ body: { voice: null } });
    expect(asked[0]).toMatchObject({ text: 'Hello.', voice: 'slt', speed: 2 });
    expect(asked[1]).toMatchObject({ voice: 'awb' });
    expect(asked[1]).not.toHaveProperty('speed');
    expect(asked[2]).toMatchObject({ voice: '' });
  });

  it('the local speech rail synthesizes at most one sentence ahead of its reader', async () => {
    const { begun, made } = engineOf([1, 2, 3, 4]);
    const { sound } = await begun();
    expect(made.words).toBe(1);
    sound.stop();
    expect(await sound.next()).toBeDefined();
    expect(await sound.next()).toBeUndefined();
    expect(made.words).toBe(1);
  });

  it.each([
    [new EngineMissing('pruned'), { kind: 'failed', failure: 'missing', detail: 'pruned' }],
    [new EngineBusy(3), { kind: 'failed', failure: 'busy', retryAfterSeconds: 3 }],
    [new EngineInputRefused('too long'), { kind: 'unfit', param: 'input', detail: 'too long' }],
    [new Error('crashed'), { kind: 'failed', failure: 'broken' }],
  ])(
    'the local speech rail tells a missing, busy, refusing and crashed engine apart before the first byte',
    async (error, told) => {
      expect(await engineOf([error]).speak()).toMatchObject(told);
      expect(await engineOf([error]).speak({ format: 'wav' })).toMatchObject(told);
    },
  );

  it('the local speech rail refuses a text that yields no audio', async () => {
    for (const format of ['wav', 'pcm'] as const) {
      const unfit = await engineOf([]).speak({ format });
      expect(unfit).toMatchObject({ kind: 'unfit', param: 'input' });
    }
  });

  it('the local speech rail’s stream breaks when the engine fails midway', async () => {
    const { sound } = await engineOf([1, new Error('crashed')]).begun();
    const all = async () => {
      while ((await sound.next()) !== undefined);
    };
    await expect(all()).rejects.toThrow(StreamBroken);
    expect(await sound.next()).toBeUndefined();
  });

  it('the local speech rail aborts for a client that has left', async () => {
    const { speak } = engineOf([1]);
    expect(await speak({}, AbortSignal.abort())).toEqual({ kind: 'aborted' });
  });

  it('the local speech rail frees its slot when the client leaves during the first sentence', async () => {
    const leaving = new AbortController();
    const engine: TtsEngine = {
      async *speak() {
        leaving.abort();
        yield { pcm: new Int16Array(24_000), sampleRateHz: 24_000, text: 'x' };
      },
    };
    const rail = createLocalSpeechRail({ engine, encoding: ENCODING });
    const call = {
      model: 'flite',
      input: 'x',
      format: 'pcm',
      wantsUsage: false,
      body: {},
    } as const;
    for (let i = 0; i <= SPEECH_LIMITS.localInFlight; i++) {
      expect(await rail.speak(call, leaving.signal)).toEqual({ kind: 'aborted' });
    }
  });

  it('the local speech rail limits concurrent speech, and frees a slot however the speech ends', async () => {
    const { begun, speak } = engineOf([1]);
    const most = SPEECH_LIMITS.localInFlight;
    const open = await Promise.all(
      Array.from({ length: most }, (_, agentId) => begun({ agentId })),
    );
    expect(await speak()).toMatchObject({ failure: 'busy', retryAfterSeconds: 1 });
    const [first, second] = open;
    first?.sound.stop();
    first?.sound.stop();
    while ((await second?.sound.next()) !== undefined);
    expect(await speak({}, AbortSignal.abort())).toEqual({ kind: 'aborted' });
    await begun();
    await begun();
    expect(await speak()).toMatchObject({ failure: 'busy' });
  });

  it('the local speech rail leaves slots for other agents when one agent uses many', async () => {
    const { begun, speak } = engineOf([1]);
    const most = ENGINE_LIMITS.speech.perAgent;
    const own = await Promise.all(Array.from({ length: most }, () => begun({ agentId: 1 })));
    expect(await speak({ agentId: 1 })).toMatchObject({ failure: 'busy', retryAfterSeconds: 1 });
    await begun({ agentId: 2 });
    own[0]?.sound.stop();
    await begun({ agentId: 1 });
  });
});
