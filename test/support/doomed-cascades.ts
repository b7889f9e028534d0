import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { type FundedAgent, fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { Teardown } from '../../src/kernel/teardown.ts';
import type { RateTexts } from '../../src/models/catalogue/builtin/builtin-model.ts';
import { MODEL_LIMITS } from '../../src/models/limits.ts';
import { toldCostRaw } from './abused-world.ts';
import { answer, hear, RATE } from './cascade-world.ts';
import { bearer } from './edge.ts';
import type { HeldServer } from './held-server.ts';
import { ADMIN_KEY } from './process-place.ts';
import { RealtimeClient } from './realtime-client.ts';
import { speechUpstream } from './speech-upstream.ts';
import { streamUpstream, textEvent } from './stream-upstream.ts';
import { transcriptionUpstream } from './transcription-upstream.ts';
import { bytesOf, tone } from './voice-fakes.ts';
import { epochSeconds } from './whole-world.ts';

/** One that this server's accounts pay, and one whose voice a key of its caller's own pays. */
export const CASCADES = ['pooled', 'keyed'] as const;
export type CascadeKind = (typeof CASCADES)[number];

const PATH = '/v1/realtime?model=acme/chat&tts_model=voicer/say&stt_model=hearer/hear';
const WORDS = ['Good day. ', 'All is well.'];

/** By maker, what a turn of each comes to: 20 tokens read and 8 written, what is spoken, a second heard. */
export const TURN_RAW: Readonly<Record<CascadeKind, Readonly<Record<string, bigint>>>> = {
  pooled: { acme: 36n, hearer: 10n, voicer: 21n },
  keyed: { acme: 36n, hearer: 10n, voicer: MODEL_LIMITS.byokFeeRaw },
};

const FUNDS_RAW = 5_000_000n;

export type CascadePeers = AsyncDisposable & {
  /** A catalogue of one model at each. Answers what the server's environment needs. */
  environment(directory: string): Readonly<Record<string, string>>;
};

/** Upstreams for LLM, TTS and STT, each of another provider. A second answer begins, and does not end. */
export async function cascadePeers(): Promise<CascadePeers> {
  const teardown = new Teardown();
  const chat = teardown.use('chat', await streamUpstream());
  const speech = teardown.use('speech', await speechUpstream());
  const hearing = teardown.use('hearing', await transcriptionUpstream());
  speech.sound = Buffer.from(bytesOf(tone(300, RATE)));
  speech.contentType = 'audio/pcm';
  chat.play(({ messages }) =>
    JSON.stringify(messages).includes('"assistant"')
      ? { pieces: WORDS.map(textEvent), ends: 'hang' }
      : { pieces: answer(WORDS) },
  );
  return {
    environment(directory) {
      const path = join(directory, 'cascades.json');
      const peers = { chat, speech, hearing };
      const providers = Object.fromEntries(
        Object.entries(peers).map(([name, { baseUrl }]) => [
          name,
          // Who has none takes no key of others.
          { baseUrl, dialect: 'openai', ...(name === 'speech' && { apiKeyEnv: 'VOICE_KEY' }) },
        ]),
      );
      const models = [
        model('acme/chat', 'text', 'chat', { text_input_token: '1', text_output_token: '2' }),
        model('voicer/say', 'tts', 'speech', { character: '1' }),
        model('hearer/hear', 'stt', 'hearing', { audio_second: '10' }),
      ];
      writeFileSync(path, JSON.stringify({ providers, models }));
      return { CATALOG_FILE: path, VOICE_KEY: 'sk-server' };
    },
    [Symbol.asyncDispose]: () => teardown[Symbol.asyncDispose](),
  };
}

const model = (id: string, modality: string, provider: string, rates: RateTexts) => ({
  id,
  modality,
  sources: [{ rail: 'direct-account', provider, upstreamModel: 'm', rates, marginBps: 0 }],
});

/** A session of each kind, each with an agent of its own, on a server that is about to die. */
export class DoomedCascades {
  readonly agents: Readonly<Record<CascadeKind, FundedAgent>>;
  readonly #clients: Readonly<Record<CascadeKind, RealtimeClient>>;

  private constructor(server: HeldServer, agents: Readonly<Record<CascadeKind, FundedAgent>>) {
    const connect = ({ agentKey }: FundedAgent, headers = {}) =>
      new RealtimeClient(server.url.replace(/^http/, 'ws') + PATH, [], {
        ...bearer(agentKey),
        ...headers,
      });
    this.agents = agents;
    this.#clients = {
      pooled: connect(agents.pooled),
      keyed: connect(agents.keyed, { 'x-svc-provider-key': 'sk-brought' }),
    };
  }

  /** Funds the agents and asks for the sessions; neither stands yet. `hold` is called in between. */
  static async ask(server: HeldServer, hold: () => void): Promise<DoomedCascades> {
    const fund = (kind: CascadeKind) =>
      fundAgent(createApi(server.url), {
        name: kind,
        amountRaw: FUNDS_RAW,
        adminApiKey: ADMIN_KEY,
        nowSeconds: epochSeconds(),
        said: () => {},
      });
    const [pooled, keyed] = await Promise.all([fund('pooled'), fund('keyed')]);
    hold();
    return new DoomedCascades(server, { pooled, keyed });
  }

  /** Resolves when both have been greeted. */
  async greeted(): Promise<void> {
    await this.#each((client) =>
      client.until(({ type }) => type === 'session.created', 30_000).then(() => {}),
    );
  }

  /** Has each say something for a second, and be answered. */
  async buy(): Promise<void> {
    await this.#each(async (client) => {
      const session = { type: 'realtime', audio: { input: { turn_detection: null } } };
      client.say({ type: 'session.update', session });
      await client.until(({ type }) => type === 'session.updated');
      hear(client, [tone(1_000, RATE)]);
      client.say({ type: 'input_audio_buffer.commit' });
      client.say({ type: 'response.create' });
    });
  }

  /** Resolves when each client has received its turn. */
  async toldOfTurn(): Promise<void> {
    await this.#each((client) =>
      client.until(({ type }) => type === 'response.done', 30_000).then(() => {}),
    );
  }

  /** Resolves when a further turn of each has been heard, is being answered and is spoken already. */
  async inTheNextTurn(): Promise<void> {
    await this.toldOfTurn();
    await this.buy();
    await this.#each(async (client) => {
      const isNext = () =>
        client
          .types()
          .slice(client.types().lastIndexOf('response.created'))
          .includes('response.output_audio.delta');
      const begun = () => client.of('response.created').length === 2;
      await client.until(() => begun() && isNext(), 30_000);
    });
  }

  leave(): void {
    for (const kind of CASCADES) this.#clients[kind].ws.close();
  }

  /** What each client has receipts for. */
  told(): Readonly<Record<CascadeKind, bigint>> {
    const { keyed, pooled } = this.#clients;
    const rawOf = (client: RealtimeClient) => toldCostRaw(client.of('response.done'));
    return { pooled: rawOf(pooled), keyed: rawOf(keyed) };
  }

  /** Resolves when both clients know that their server is gone. */
  async lost(): Promise<void> {
    await this.#each((client) => client.closed.then(() => {}));
  }

  async #each(work: (client: RealtimeClient) => Promise<void>): Promise<void> {
    await Promise.all(CASCADES.map((kind) => work(this.#clients[kind])));
  }
}
