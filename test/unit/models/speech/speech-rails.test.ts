import { expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type { Rail, Source } from '../../../../src/models/catalogue/catalogue.ts';
import type { SpeechRail } from '../../../../src/models/providers/speech-rail.ts';
import { createSpeechRails } from '../../../../src/models/speech/speech-rails.ts';
import { NO_ENCODERS } from '../../../support/no-encoders.ts';

const local: SpeechRail = { makes: () => true, speak: async () => ({ kind: 'aborted' }) };

it('each speech provider of a known dialect has one rail, and other providers have none', async () => {
  const baseUrl = 'http://127.0.0.1:1/v1';
  const source = (provider: string, rail: Rail = 'direct-account') =>
    ({ rail, provider, upstreamModel: 'm', rates: { character: '1' } }) as const;
  const sources = [
    source('local', 'self-host'),
    source('open'),
    source('odd'),
    source('open', 'byok'),
    source('open', 'x402-router'),
  ];
  const catalogue = buildCatalogue({
    providers: new Map([
      ['local', { baseUrl: null, dialect: 'local' as const }],
      ['open', { baseUrl, dialect: 'openai' as const }],
      ['odd', { baseUrl, dialect: 'openai-realtime' as const }],
    ]),
    models: [{ id: 'acme/voice', modality: 'tts', sources }],
    secret: () => undefined,
  });
  await using rails = createSpeechRails({
    catalogue,
    local,
    clock: systemClock,
    encoding: NO_ENCODERS,
  });
  const railOf = (provider: string, rail: Rail = 'direct-account') =>
    rails.railOf({ ...source(provider, rail), marginBps: 0, rates: {} } satisfies Source);
  expect(railOf('local', 'self-host')).toBe(local);
  expect(railOf('open')).toBeDefined();
  expect(railOf('open')).toBe(railOf('open', 'aggregator'));
  for (const none of [railOf('odd'), railOf('nobody'), railOf('open', 'x402-router')]) {
    expect(none).toBeUndefined();
  }
  expect(railOf('open')).toBe(railOf('open', 'byok'));
});
