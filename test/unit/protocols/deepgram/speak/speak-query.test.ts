import { describe, expect, it } from 'vitest';
import {
  FLUX_RATES,
  FluxQuery,
  planRaw,
  planSound,
  SpeakQuery,
  SpeakSocketQuery,
} from '../../../../../src/protocols/deepgram/speak/speak-query.ts';

const planOf = (query: Record<string, string>) => planSound(SpeakQuery.parse(query));
const made = (encoding: string, sampleRateHz: number, inWav: boolean) => ({
  format: 'pcm',
  made: { encoding, sampleRateHz, inWav },
});

describe('what is made of a text', () => {
  it.each([
    [{}, { format: 'mp3', made: undefined }],
    [{ container: 'ogg' }, { format: 'opus', made: undefined }],
    [{ container: 'wav' }, made('linear16', 24_000, true)],
    [{ encoding: 'linear16' }, made('linear16', 24_000, true)],
    [
      { encoding: 'linear16', container: 'none', sample_rate: '8000' },
      made('linear16', 8_000, false),
    ],
    [{ encoding: 'mulaw' }, made('mulaw', 8_000, true)],
    [{ encoding: 'alaw', sample_rate: '16000', container: 'none' }, made('alaw', 16_000, false)],
    [
      { encoding: 'opus', container: 'ogg', bit_rate: '12000' },
      { format: 'opus', made: undefined },
    ],
    [
      { encoding: 'aac', unknown: 'x' },
      { format: 'aac', made: undefined },
    ],
  ])('a Deepgram speak query of %j gives an audio format', (query, plan) => {
    expect(planOf(query as Record<string, string>)).toEqual(plan);
  });

  it.each([
    [{ encoding: 'mulaw', container: 'ogg' }],
    [{ encoding: 'opus', container: 'none' }],
    [{ encoding: 'mp3', container: 'wav' }],
    [{ encoding: 'mulaw', sample_rate: '24000' }],
    [{ encoding: 'linear16', sample_rate: '44100' }],
    [{ encoding: 'pcm' }],
    [{ speed: '9' }],
    [{ mip_opt_out: 'true' }],
    [{ callback: 'https://a.example' }],
    [{ sample_rate: '1e400' }],
  ])('a Deepgram speak query of %j is refused', (query) => {
    expect(() => planOf(query as unknown as Record<string, string>)).toThrow();
  });

  it('a Deepgram speak socket sends raw audio and refuses containers', () => {
    expect(SpeakSocketQuery.parse({})).toMatchObject({ encoding: 'linear16', container: 'none' });
    expect(() => SpeakSocketQuery.parse({ container: 'wav' })).toThrow();
    expect(() => SpeakSocketQuery.parse({ encoding: 'mp3' })).toThrow();
    expect(planRaw('alaw')).toEqual({ encoding: 'alaw', sampleRateHz: 8_000 });
  });

  it('a Flux query needs its model, allows 44,100 Hz, and takes its speed in steps', () => {
    const model = 'local/flite';
    expect(() => FluxQuery.parse({})).toThrow();
    expect(planRaw('linear16', 44_100, FLUX_RATES).sampleRateHz).toBe(44_100);
    for (let step = 10; step <= 30; step++) {
      expect(FluxQuery.parse({ model, speed: String(step / 20) }).speed).toBe(step / 20);
    }
    for (const speed of ['0.45', '1.55', '1.01', 'fast', 'NaN', '']) {
      expect(() => FluxQuery.parse({ model, speed })).toThrow();
    }
    expect(FluxQuery.parse({ model, expressivity: '0' }).expressivity).toBe(0);
    for (const expressivity of ['3', '0.5', '1']) {
      expect(() => FluxQuery.parse({ model, expressivity })).toThrow();
    }
  });
});
