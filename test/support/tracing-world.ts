import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerDeps } from '../../src/app/build/world.ts';
import { TRACING_LIMITS } from '../../src/platform/tracing/limits.ts';
import { type AnthropicUpstream, anthropicUpstream } from './anthropic-upstream.ts';
import { type OpenAiUpstream, openAiUpstream } from './openai-upstream.ts';
import { type OtlpCollector, otlpCollector } from './otlp-collector.ts';
import type { CollectedSpan } from './otlp-protobuf.ts';
import { payingEnvironment } from './payment-world.ts';
import { type ResponsesUpstream, responsesUpstream } from './responses-upstream.ts';
import { type SpeechUpstream, speechUpstream } from './speech-upstream.ts';
import { type StreamUpstream, streamUpstream } from './stream-upstream.ts';
import { type TranscriptionUpstream, transcriptionUpstream } from './transcription-upstream.ts';
import { type Ask, ask, startWorld, type Told, type WholeWorld } from './whole-world.ts';

const CLAUDE_KEY = 'sk-ant-upstream';
/** Every test waits for spans. */
const EXPORT_DELAY_MS = 50;

export type TracingWorld = AsyncDisposable & {
  readonly collector: OtlpCollector;
  readonly world: WholeWorld;
  readonly whole: OpenAiUpstream;
  /** The cheaper source of `acme/fallback`. */
  readonly bad: OpenAiUpstream;
  readonly streams: StreamUpstream;
  readonly speech: SpeechUpstream;
  readonly ears: TranscriptionUpstream;
  readonly claude: AnthropicUpstream;
  readonly responses: ResponsesUpstream;
  /** Posts as an agent, and finds the span of the request by its answer's `traceresponse`. */
  traced(key: string, path: string, request: Ask): Promise<Traced>;
};

export type Traced = {
  readonly answer: Told;
  readonly server: CollectedSpan;
};

const RATES = { text_input_token: '1', text_output_token: '2', cached_input_token: '0.5' };

const model = (id: string, modality: string, ...sources: readonly object[]) => ({
  id,
  modality,
  contextWindow: null,
  sources,
});
const source = (provider: string, rates: object = RATES) => ({
  rail: 'direct-account',
  provider,
  upstreamModel: `${provider}-1`,
  rates,
});

/** The whole server, every kind of upstream, and a collector of its spans. */
export async function startTracingWorld(
  environment: Record<string, string> = {},
  { chainUrl, ...deps }: Partial<ServerDeps> & { readonly chainUrl?: string } = {},
): Promise<TracingWorld> {
  const collector = await otlpCollector();
  const peers = {
    whole: await openAiUpstream(),
    bad: await openAiUpstream(),
    streams: await streamUpstream(),
    speech: await speechUpstream(),
    ears: await transcriptionUpstream(),
    claude: await anthropicUpstream(CLAUDE_KEY),
    responses: await responsesUpstream(),
  };
  const openai = (peer: { readonly baseUrl: string }, more: object = {}) => ({
    baseUrl: peer.baseUrl,
    dialect: 'openai',
    ...more,
  });
  const directory = mkdtempSync(join(tmpdir(), 'svc-traced-'));
  const catalogue = join(directory, 'catalogue.json');
  const contents = {
    providers: {
      whole: openai(peers.whole),
      bad: openai(peers.bad),
      streams: openai(peers.streams),
      speech: openai(peers.speech),
      ears: openai(peers.ears),
      responses: openai(peers.responses, { speaksResponses: true }),
      claude: { baseUrl: peers.claude.baseUrl, dialect: 'anthropic', apiKeyEnv: 'CLAUDE_KEY' },
    },
    models: [
      model('acme/whole', 'text', source('whole')),
      model('acme/streams', 'text', source('streams')),
      model('acme/fallback', 'text', source('bad'), source('whole', dearer(RATES))),
      model('acme/claude', 'text', source('claude')),
      model('acme/responses', 'text', source('responses')),
      model('acme/vectors', 'embedding', source('whole', { text_input_token: '100' })),
      model('acme/voice', 'tts', source('speech', { character: '100' })),
      model('acme/ears', 'stt', source('ears', { audio_second: '1000' })),
    ],
  };
  writeFileSync(catalogue, JSON.stringify(contents));
  const { delayMs } = TRACING_LIMITS.export;
  // The tracer reads it once, while the server starts.
  Object.assign(TRACING_LIMITS.export, { delayMs: EXPORT_DELAY_MS });
  const world = await startWorld(
    {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.baseUrl}/traces`,
      CATALOG_FILE: catalogue,
      SSRF_ALLOW_LOCALHOST: '1',
      ...(chainUrl !== undefined && payingEnvironment(chainUrl)),
      ...environment,
    },
    { secret: (name) => (name === 'CLAUDE_KEY' ? CLAUDE_KEY : undefined), ...deps },
  ).finally(() => Object.assign(TRACING_LIMITS.export, { delayMs }));
  return {
    collector,
    world,
    ...peers,
    async traced(key, path, { headers, ...request }) {
      const answer = await ask(`${world.url}${path}`, {
        ...request,
        headers: { authorization: `Bearer ${key}`, ...headers },
      });
      const [, traceId, spanId] = answer.headers.get('traceresponse')?.split('-') ?? [];
      const server = await collector.awaited(
        (span) => span.traceId === traceId && span.spanId === spanId,
      );
      return { answer, server };
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      for (const peer of [...Object.values(peers), collector]) await peer[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  };
}

const dearer = (rates: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(rates).map(([unit, rate]) => [unit, String(Number(rate) * 3)]));
