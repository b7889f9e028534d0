import { expect } from 'vitest';
import type { TtsEngine } from '../../src/engines/engine.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { Teardown } from '../../src/kernel/teardown.ts';
import { buildCatalogue } from '../../src/models/catalogue/build-catalogue.ts';
import type { ProviderEntry } from '../../src/models/catalogue/builtin/builtin-model.ts';
import { LOCAL_MODELS } from '../../src/models/catalogue/builtin/local.ts';
import {
  createSpeakSocket,
  createSpeakTurnsSocket,
} from '../../src/protocols/deepgram/speak/speak-socket.ts';
import type { RateLimits } from '../../src/rate-limit/rate-gate.ts';
import { createFakeLedger } from './fake-ledger.ts';
import { gatewayServices } from './gateway-services.ts';
import { liveFront } from './live-front.ts';
import { noise, type SpeechUpstream, speechUpstream } from './speech-upstream.ts';
import { AGENT } from './voice-world.ts';

export const PCM = 'audio/pcm';

export type SpeakSocketWorld = Awaited<ReturnType<typeof startSpeakSockets>>;

export type SpeakSocketClient = Awaited<ReturnType<SpeakSocketWorld['connect']>>;

/** Both sockets before one upstream of speech, ten raw units a character, on a ledger in memory. */
export async function startSpeakSockets(
  creditRaw = 100_000n,
  rateLimits: Partial<RateLimits> = {},
) {
  const teardown = new Teardown();
  const upstream: SpeechUpstream = teardown.use('upstream', await speechUpstream());
  upstream.contentType = PCM;
  upstream.sound = noise(48_000);
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: creditRaw, reference: 'world' });
  const providers = new Map<string, ProviderEntry>([
    ['local', { baseUrl: null, dialect: 'local' }],
    ['acme', { baseUrl: upstream.baseUrl, dialect: 'openai', apiKeyEnv: 'ACME_KEY' }],
  ]);
  const source = {
    rail: 'direct-account',
    provider: 'acme',
    upstreamModel: 'v',
    marginBps: 0,
  } as const;
  const catalogue = buildCatalogue({
    providers,
    models: [
      ...LOCAL_MODELS,
      { id: 'acme/voice', modality: 'tts', sources: [{ ...source, rates: { character: '10' } }] },
    ],
    secret: () => 'sk',
  });
  const tts: TtsEngine = {
    async *speak({ text }) {
      yield { pcm: new Int16Array(2_400), sampleRateHz: 24_000, text };
    },
  };
  const gateway = teardown.use('gateway', gatewayServices({ catalogue, ledger, tts }));
  const { speech } = gateway.services;
  const deps = { speech, catalogue, clock: systemClock, log: silentLog, random: systemRandom };
  const front = await liveFront(teardown, {
    sockets: [createSpeakSocket(deps), createSpeakTurnsSocket(deps)],
    rateLimits: { gatewayPerMinute: 10_000, ...rateLimits },
  });
  return {
    ledger,
    upstream,
    url: front.at,
    async connect(path: string, headers: Readonly<Record<string, string>> = {}) {
      const client = await front.connect(front.at(path), headers);
      const sound = { bytes: 0 };
      client.ws.on('message', (data: Buffer, isBinary: boolean) => {
        if (isBinary) sound.bytes += data.length;
      });
      return Object.assign(client, { sound });
    },
    [Symbol.asyncDispose]: () => teardown[Symbol.asyncDispose](),
  };
}

/** Holds are given back a moment after the last byte. */
export const noHolds = (ledger: { openHolds(): number }) =>
  expect.poll(() => ledger.openHolds()).toBe(0);
