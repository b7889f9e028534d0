import { expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type { Rail } from '../../../../src/models/catalogue/catalogue.ts';
import type { TranscriptionRail } from '../../../../src/models/providers/transcription-rail.ts';
import { createTranscriptionRails } from '../../../../src/models/transcription/transcription-rails.ts';

it('local engines and openai providers have a transcription rail, and x402 sources have none', async () => {
  const source = (provider: string, rail: Rail = 'direct-account') => ({
    rail,
    provider,
    upstreamModel: 'ears',
    rates: { audio_second: '1' },
    marginBps: 0,
  });
  const at = { baseUrl: 'http://127.0.0.1:1' };
  const catalogue = buildCatalogue({
    providers: new Map([
      ['acme', { ...at, dialect: 'openai' }],
      ['deep', { ...at, dialect: 'openai-realtime' }],
      ['local', { baseUrl: null, dialect: 'local' }],
    ]),
    models: [
      {
        id: 'acme/ears',
        modality: 'stt',
        sources: [source('acme'), source('deep'), source('local')],
      },
    ],
    secret: () => undefined,
  });
  const nothing = () => Promise.resolve({ kind: 'aborted' } as const);
  const local: TranscriptionRail = { transcribe: nothing, stream: nothing };
  const deps = { catalogue, local, clock: systemClock, random: systemRandom };
  await using rails = createTranscriptionRails(deps);
  const [acme, deep, own] = ['acme', 'deep', 'local'].map((provider) => {
    const found = catalogue.find('acme/ears')?.sources.find((one) => one.provider === provider);
    return found && rails.railOf(found);
  });
  expect([acme === undefined, deep, own === local]).toEqual([false, undefined, true]);
  expect(rails.railOf({ ...source('acme', 'x402-router'), rates: {} })).toBeUndefined();
});
