import { expect, it } from 'vitest';
import { buildCatalogue } from '../../../src/gateway/build-catalogue.ts';
import type { Rail } from '../../../src/gateway/catalogue.ts';
import { createTranscriptionRails } from '../../../src/gateway/transcription-rails.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import type { TranscriptionRail } from '../../../src/rails/transcription-rail.ts';

it('has a way to the local engines and to who speaks the dialect, paid from this account', async () => {
  const source = (provider: string, rail: Rail = 'direct-account') => ({
    ...{ rail, provider, upstreamModel: 'ears', rates: { audio_second: '1' }, marginBps: 0 },
  });
  const at = { baseUrl: 'http://127.0.0.1:1' };
  const catalogue = buildCatalogue({
    providers: new Map([
      ['acme', { ...at, dialect: 'openai' }],
      ['deep', { ...at, dialect: 'deepgram' }],
      ['local', { baseUrl: null, dialect: 'local' }],
    ]),
    models: [
      {
        ...{ id: 'acme/ears', modality: 'stt' },
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
