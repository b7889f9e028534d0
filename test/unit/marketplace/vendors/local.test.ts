import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { createLocalVendor } from '../../../../src/marketplace/vendors/local.ts';
import { failed, type Outcome } from '../../../../src/models/providers/outcome.ts';
import type { Speech, SpeechCall } from '../../../../src/models/providers/speech-rail.ts';
import type { TranscriptionAnswer } from '../../../../src/models/providers/transcription-rail.ts';
import { VendorFailed } from '../../../../src/models/providers/vendors/vendor-api.ts';

const DOOR = {
  agentId: 7,
  random: systemRandom,
  signal: new AbortController().signal,
  send: () => Promise.reject(new Error('nothing is sent')),
  pause: async () => {},
  abandon: async () => {},
};

const FILE = {
  bytes: Buffer.from('sound'),
  durationMs: 5,
  contentType: 'audio/wav',
  name: 'a.wav',
};

function local(outcomes: {
  readonly speech?: Outcome<Speech>;
  readonly hearing?: Outcome<TranscriptionAnswer>;
  readonly makesMp3?: boolean;
}) {
  const calls: SpeechCall[] = [];
  const broken = failed('broken', 'the engine failed');
  const { services } = createLocalVendor({
    speech: {
      makes: () => outcomes.makesMp3 ?? true,
      async speak(call) {
        calls.push(call);
        return outcomes.speech ?? broken;
      },
    },
    hearing: { transcribe: async () => outcomes.hearing ?? broken },
  });
  return {
    calls,
    speak: async () => services.tts?.plan({ text: 'hello', voice: 'slt' }).ask(DOOR),
    hear: async () => services.stt?.plan({ file: FILE, language_code: 'de' }).ask(DOOR),
    services,
  };
}

const spoken = (...pieces: string[]): Outcome<Speech> => {
  const left = pieces.map((piece) => Buffer.from(piece));
  const sound = { next: async () => left.shift(), usage: () => null, stop: () => {} };
  return { kind: 'completed', status: 200, contentType: 'audio/mpeg', sound };
};

describe('the engines as a vendor', () => {
  it('the local vendor delivers whole speech, as mp3 when this server makes mp3, else as WAV', async () => {
    const one = local({ speech: spoken('a', 'b') });
    expect(await one.speak()).toEqual({ audio: Buffer.from('ab'), contentType: 'audio/mpeg' });
    expect(one.calls).toMatchObject([
      { agentId: 7, input: 'hello', format: 'mp3', body: { voice: 'slt' } },
    ]);
    const other = local({ speech: spoken('a'), makesMp3: false });
    await other.speak();
    expect(other.calls).toMatchObject([{ format: 'wav' }]);
  });

  it('the local vendor’s services cost nothing', () => {
    const { services } = local({});
    expect(services.tts?.plan({ text: 'hello' }).price.usd).toBe('0');
    expect(services.stt?.plan({ file: FILE }).price.usd).toBe('0');
  });

  it('the local vendor reports engine failures as vendor failures and names the caller’s own field in refusals', async () => {
    await expect(local({}).speak()).rejects.toThrow(VendorFailed);
    const unfit = { kind: 'unfit', detail: 'English only', param: 'language' } as const;
    const refused = await local({ hearing: unfit })
      .hear()
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({
      status: 400,
      fields: { details: [{ path: ['language_code'] }] },
    });
    const odd = {
      body: Buffer.from('{}'),
      contentType: 'application/json',
      usage: { seconds: 1, tokens: null },
    };
    await expect(
      local({ hearing: { kind: 'completed', status: 200, ...odd } }).hear(),
    ).rejects.toThrow(VendorFailed);
  });

  it('the local vendor refuses a model name for speech because its engine has a single model', () => {
    const { services } = local({});
    expect(() => services.tts?.plan({ text: 'a', model: 'aura' })).toThrow(ApiError);
  });
});
