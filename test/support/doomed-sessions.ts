import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { type FundedAgent, fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { toldCostRaw } from './abused-world.ts';
import { bearer } from './edge.ts';
import type { HeldServer } from './held-server.ts';
import { ADMIN_KEY } from './process-place.ts';
import { RealtimeClient } from './realtime-client.ts';
import { type RealtimeUpstream, type UpstreamPeer, usageOf } from './realtime-upstream.ts';
import { bytesOf, silence } from './voice-fakes.ts';
import { epochSeconds } from './whole-world.ts';

export const KINDS = ['relayed', 'local', 'transcribed'] as const;
export type Kind = (typeof KINDS)[number];

const PATHS: Readonly<Record<Kind, string>> = {
  relayed: '/v1/realtime?model=acme/voice',
  local: '/v1/realtime?model=local/realtime',
  transcribed: '/v1/audio/transcriptions/stream?model=local/pocketsphinx',
};

const RATES = {
  text_input_token: '4',
  text_output_token: '16',
  cached_input_token: '0.4',
  audio_input_token: '32',
  audio_output_token: '64',
};
const AUDIO_TOKENS = 250;
const USAGE = usageOf({ textIn: 100, textOut: 40, audioOut: AUDIO_TOKENS });
/** 400 + 640 + 16,000 micro-USD, and 5 %. */
export const RELAYED_TURN_RAW = 17_892n;
/** More than the slice of ten seconds that is journaled as soon as it is heard, as silence is when it comes. */
const SENT_MS = 10_500;
const FUNDS_RAW = 5_000_000n;

/** A catalogue of one model at the upstream, beside the local ones. Answers what the server's environment needs. */
export function upstreamEnvironment(directory: string, { baseUrl }: RealtimeUpstream) {
  const path = join(directory, 'sessions.json');
  const source = { rail: 'direct-account', provider: 'acme', upstreamModel: 'v', rates: RATES };
  const acme = { baseUrl, apiKeyEnv: 'ACME_KEY', dialect: 'openai-realtime' };
  const models = [{ id: 'acme/voice', modality: 'realtime', sources: [source] }];
  writeFileSync(path, JSON.stringify({ providers: { acme }, models }));
  return { CATALOG_FILE: path, ACME_KEY: 'sk-acme' };
}

/** A session of each kind, each with an agent of its own, on a server that is about to die. */
export class DoomedSessions {
  readonly #upstream: RealtimeUpstream;
  readonly #clients: Readonly<Record<Kind, RealtimeClient>>;
  readonly agents: Readonly<Record<Kind, FundedAgent>>;
  #peer: UpstreamPeer | undefined;

  private constructor(
    server: HeldServer,
    upstream: RealtimeUpstream,
    agents: Readonly<Record<Kind, FundedAgent>>,
  ) {
    const connect = (kind: Kind) =>
      new RealtimeClient(server.url.replace(/^http/, 'ws') + PATHS[kind], [], {
        ...bearer(agents[kind].agentKey),
      });
    this.#upstream = upstream;
    this.agents = agents;
    this.#clients = {
      relayed: connect('relayed'),
      local: connect('local'),
      transcribed: connect('transcribed'),
    };
  }

  /** Funds the agents and asks for the sessions; none stands yet. `hold` is told in between. */
  static async ask(
    server: HeldServer,
    upstream: RealtimeUpstream,
    hold: () => void,
  ): Promise<DoomedSessions> {
    const fund = (kind: Kind) =>
      fundAgent(createApi(server.url), {
        name: kind,
        amountRaw: FUNDS_RAW,
        adminApiKey: ADMIN_KEY,
        nowSeconds: epochSeconds(),
        said: () => {},
      });
    const [relayed, local, transcribed] = await Promise.all([
      fund('relayed'),
      fund('local'),
      fund('transcribed'),
    ]);
    upstream.peers.length = 0;
    hold();
    return new DoomedSessions(server, upstream, { relayed, local, transcribed });
  }

  /** Resolves when each stands and has been greeted. */
  async greeted(): Promise<void> {
    const { relayed, local, transcribed } = this.#clients;
    const created = (client: RealtimeClient) =>
      client.until(({ type }) => type === 'session.created', 30_000);
    await Promise.all([created(relayed), created(local), transcribed.opened()]);
    this.#peer = await this.#upstream.peer();
  }

  /** Has each buy its first piece: a turn, a turn, and more than ten seconds of sound. */
  buy(): void {
    this.#peer?.begin('r1');
    this.#peer?.sound(AUDIO_TOKENS);
    this.#peer?.finish('r1', USAGE);
    this.#clients.local.say({ type: 'response.create', response: { output_modalities: ['text'] } });
    this.#clients.transcribed.ws.send(bytesOf(silence(SENT_MS, 16_000)));
  }

  /** Resolves when both turns were told, and a further one is open. */
  async inTheNextTurn(): Promise<void> {
    const { relayed, local } = this.#clients;
    const over = ({ type }: { readonly type: string }) => type === 'response.done';
    await Promise.all([relayed.until(over), local.until(over, 30_000)]);
    this.#peer?.begin('r2');
    await relayed.until(() => relayed.of('response.created').length === 2);
    local.say({ type: 'response.create', response: { output_modalities: ['text'] } });
  }

  leave(): void {
    for (const kind of KINDS) this.#clients[kind].ws.close();
  }

  /** What the clients were told that they bought. */
  told(): Readonly<Record<Kind, bigint>> {
    const { relayed, local } = this.#clients;
    return {
      relayed: BigInt(relayed.of('response.done').length) * RELAYED_TURN_RAW,
      local: toldCostRaw(local.of('response.done')),
      transcribed: 0n,
    };
  }

  /** Resolves when every client knows that its server is gone. */
  async lost(): Promise<void> {
    await Promise.all(KINDS.map((kind) => this.#clients[kind].closed));
  }
}
