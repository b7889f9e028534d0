import { createServer } from 'node:http';
import { encodeWav } from '../../../media/wav.ts';
import type { ServerDeps } from '../../../src/app/build/world.ts';
import { listenOnLoopback } from '../listen-on-loopback.ts';
import { type Ask, ask, startWorld, type Told, type WholeWorld } from '../whole-world.ts';
import { startVendorPeer, type VendorPeer } from './vendor-peer.ts';

export const MARKET = 'https://market.example';

/** What most tests buy: speech of 100 characters at 30 dollars a million and 5 %. */
export const SPEECH = '/v1/tts/deepgram';
export const TEXT = 'x'.repeat(100);
export const TEXT_RAW = 3_150n;

export type Shopper = {
  readonly agentId: number;
  readonly key: string;
  readonly developerKey: string;
  /** `POST /v1/proxy/fetch` of a path of the marketplace. A body that is no text goes out as the JSON text of it. */
  buy(path: string, body?: unknown, more?: Ask & { readonly method?: string }): Promise<Told>;
  /** Any route with this agent's key. */
  ask(path: string, request?: Ask): Promise<Told>;
};

export type MarketWorld = AsyncDisposable & {
  readonly world: WholeWorld;
  readonly peer: VendorPeer;
  /** Where sound of so many milliseconds lies. */
  sound(ms: number): string;
  /** How often sound was fetched. */
  readonly fetched: { count: number };
  shopper(name: string, amountRaw?: bigint): Promise<Shopper>;
};

/** Sets a cap of the agent. */
export const setPolicy = (agent: Shopper, body: Record<string, unknown>): Promise<Told> =>
  agent.ask('/v1/agents/policies', { body });

const made = new Map<number, Buffer>();

/** Sound at 8 kHz, made once for each length. */
function wavOf(ms: number): Buffer {
  let file = made.get(ms);
  if (file === undefined) {
    const samples = Int16Array.from({ length: 8 * ms }, (_, i) => (i * 997) % 2_000);
    file = Buffer.from(encodeWav(samples, 8_000));
    made.set(ms, file);
  }
  return file;
}

/** The whole server with accounts at every vendor, all of which are played by one peer. */
export async function startMarketWorld(
  environment: Record<string, string> = {},
  deps: Partial<ServerDeps> = {},
): Promise<MarketWorld> {
  const peer = await startVendorPeer();
  const fetched = { count: 0 };
  const files = createServer((request, response) => {
    fetched.count++;
    const [, ms] = /\/sound-(\d+)\.wav$/.exec(request.url ?? '') ?? [];
    if (ms === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'audio/wav' }).end(wavOf(Number(ms)));
  });
  const host = await listenOnLoopback(files);
  const world = await startWorld(
    { SSRF_ALLOW_LOCALHOST: '1', MARKETPLACE_URL: MARKET, ...environment },
    { secret: peer.secret, ...deps },
  );
  return {
    world,
    peer,
    fetched,
    sound: (ms) => `${host.baseUrl}/sound-${ms}.wav`,
    async shopper(name, amountRaw = 1_000_000n) {
      const { agentId, agentKey: key, developerKey } = await world.fund(name, amountRaw);
      const authorization = `Bearer ${key}`;
      const call = (path: string, request: Ask = {}) =>
        ask(`${world.url}${path}`, { ...request, headers: { authorization, ...request.headers } });
      return {
        agentId,
        key,
        developerKey,
        ask: call,
        buy: (path, body, { method = 'POST', ...more } = {}) =>
          call('/v1/proxy/fetch', {
            ...more,
            body: {
              url: `${MARKET}${path}`,
              method,
              headers: { 'content-type': 'application/json' },
              ...(body !== undefined && {
                body: typeof body === 'string' ? body : JSON.stringify(body),
              }),
            },
          }),
      };
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await peer[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}
