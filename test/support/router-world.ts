import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { type Chain, startChain } from './chain/chain.ts';
import { type EvilVendor, type Script, startEvilVendor } from './chain/evil-vendor.ts';
import type { Vendor } from './chain/vendor.ts';
import { startRouter } from './chain/vendors.ts';
import { type OpenAiUpstream, openAiUpstream } from './openai-upstream.ts';
import { fundPayer, type PayingAgent, payingEnvironment } from './payment-world.ts';
import { type SpeechUpstream, speechUpstream } from './speech-upstream.ts';
import { type StreamUpstream, streamUpstream } from './stream-upstream.ts';
import { type TranscriptionUpstream, transcriptionUpstream } from './transcription-upstream.ts';
import { type Developer, newDeveloper, startWorld, type WholeWorld } from './whole-world.ts';

/** What every router here asks for, whatever it is asked. */
export const ROUTER_PRICE_RAW = 150n;

/** What stands behind the router that is honest. */
export type Behind = {
  readonly chat: OpenAiUpstream;
  readonly streams: StreamUpstream;
  readonly speech: SpeechUpstream;
  readonly ears: TranscriptionUpstream;
};

export type RouterWorld = AsyncDisposable & {
  readonly chain: Chain;
  readonly router: Vendor;
  readonly behind: Behind;
  readonly evil: EvilVendor;
  /** The upstream that this server has an account at, dearer than any router. */
  readonly direct: OpenAiUpstream;
  readonly world: WholeWorld;
  /** The file that names all of it. */
  readonly catalogue: string;
  /** What a router that follows a script was asked. */
  seenBy(script: string): ReturnType<EvilVendor['seen']>;
  buyer(name: string, depositRaw?: bigint): Promise<Buyer>;
};

export type Buyer = PayingAgent & { readonly openai: OpenAI; readonly developer: Developer };

/** Rates at which a hundred tokens of an answer come to more than the router asks. */
const CHEAP = { text_input_token: '1', text_output_token: '2' };
const DEAR = { text_input_token: '10', text_output_token: '20' };

const paid = (provider: string, rates: object) => ({
  rail: 'x402-router',
  provider,
  upstreamModel: 'routed-1',
  marginBps: 500,
  rates,
});
const DIRECT = { rail: 'direct-account', provider: 'direct', upstreamModel: 'm', rates: DEAR };

const model = (id: string, modality: string, ...sources: readonly object[]) => ({
  id,
  modality,
  contextWindow: null,
  sources,
});

/**
 * The whole server beside a chain, a router that sells four kinds of models, and routers that follow scripts, each
 * selling `evil/<name>`: first choice of that model, with the direct account behind it.
 */
export async function startRouterWorld(
  scripts: Readonly<Record<string, Script>> = {},
): Promise<RouterWorld> {
  const chain = await startChain({});
  const behind = {
    chat: await openAiUpstream(),
    streams: await streamUpstream(),
    speech: await speechUpstream(),
    ears: await transcriptionUpstream(),
  };
  const onward = (path: string, body: Buffer) => upstreamFor(behind, path, body).baseUrl;
  const router = await startRouter(chain, { priceRaw: ROUTER_PRICE_RAW, onward });
  const direct = await openAiUpstream();
  direct.usage = { prompt_tokens: 12, completion_tokens: 40 };
  const evil = await startEvilVendor(chain);
  const names = Object.keys(scripts);
  for (const name of names) {
    const path = `/${name}/chat/completions`;
    evil.sell({ priceRaw: ROUTER_PRICE_RAW, ...scripts[name], path });
  }
  const dialect = 'openai';
  const evils = names.map((name) => [
    `evil-${name}`,
    { baseUrl: `${evil.origin}/${name}`, dialect },
  ]);
  const directory = mkdtempSync(join(tmpdir(), 'svc-router-'));
  const catalogue = join(directory, 'catalogue.json');
  writeFileSync(
    catalogue,
    JSON.stringify({
      providers: {
        'acme-router': { baseUrl: router.baseUrl, dialect },
        direct: { baseUrl: direct.baseUrl, dialect },
        ...Object.fromEntries(evils),
      },
      models: [
        model('acme/chat', 'text', paid('acme-router', CHEAP), DIRECT),
        model('acme/alone', 'text', paid('acme-router', CHEAP)),
        model('acme/vectors', 'embedding', paid('acme-router', { text_input_token: '100' })),
        model('acme/voice', 'tts', paid('acme-router', { character: '100' })),
        model('acme/ears', 'stt', paid('acme-router', { audio_second: '1000' })),
        ...names.map((name) => model(`evil/${name}`, 'text', paid(`evil-${name}`, CHEAP), DIRECT)),
      ],
    }),
  );
  const world = await startWorld({ ...payingEnvironment(chain.url), CATALOG_FILE: catalogue });
  return {
    chain,
    router,
    behind,
    evil,
    direct,
    world,
    catalogue,
    seenBy: (script) => evil.seen(`${evil.origin}/${script}/chat/completions`),
    async buyer(name, depositRaw = 100_000n) {
      const developer = await newDeveloper(world.api, `owner of ${name}`);
      const agent = await fundPayer({ chain, developer, ...world }, name, depositRaw);
      const baseURL = `${world.url}/v1`;
      const openai = new OpenAI({ apiKey: agent.key, baseURL, maxRetries: 0 });
      return { ...agent, developer, openai };
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      const peers = [router, direct, evil, ...Object.values(behind), chain];
      for (const peer of peers) await peer[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function upstreamFor(behind: Behind, path: string, body: Buffer) {
  if (path === '/audio/speech') return behind.speech;
  if (path === '/audio/transcriptions') return behind.ears;
  const isStream = path === '/chat/completions' && JSON.parse(body.toString('utf8')).stream;
  return isStream === true ? behind.streams : behind.chat;
}
