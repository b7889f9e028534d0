import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseWav } from '../../media/wav.ts';
import { uuidOf } from '../../src/kernel/ids.ts';
import { deepgramAt, refusedWith } from '../support/deepgram-rest-client.ts';
import { type MarketWorld, startMarketWorld } from '../support/vendors/market-world.ts';
import { pcmOf, soundOf } from '../support/vendors/protocols.ts';
import { settledMoney } from '../support/whole-world.ts';

const TEXT = 'The weather is fine today.';

let market: MarketWorld;
beforeAll(async () => {
  market = await startMarketWorld();
});
afterAll(() => market[Symbol.asyncDispose]());

/** A name that an agent may have, and no other case has. */
const nameOf = (what: string, wish: object): string =>
  `${what} ${JSON.stringify(wish).replace(/[^a-z0-9]/g, '')}`.slice(0, 60);

async function open(name: string) {
  const shopper = await market.shopper(name);
  const client = deepgramAt({ url: market.world.url, apiKey: shopper.key });
  const charges = async () => {
    const money = await settledMoney(market.world.sql, shopper.agentId);
    expect(money.spendable).toBe(money.credited - money.charged);
    return market.world.sql<{ cost: bigint; usage: Record<string, number> }[]>`
      select cost_raw as cost, usage from charges where agent_id = ${shopper.agentId}`;
  };
  return { client, shopper, charges, audio: client.speak.v1.audio };
}

describe("a text by Deepgram's own client", () => {
  it("Deepgram's client gets local speech with the vendor's headers and our receipt, charged by its characters", async () => {
    const { audio, charges } = await open('speaker');
    const { data, rawResponse } = await audio
      .generate({ text: TEXT, model: 'local/flite', encoding: 'linear16', sample_rate: 16_000 })
      .withRawResponse();
    const { headers } = rawResponse;
    expect(headers.get('content-type')).toBe('audio/wav');
    expect(headers.get('dg-model-name')).toBe('local/flite');
    expect(headers.get('dg-model-uuid')).toBe(uuidOf('local/flite'));
    expect(headers.get('dg-char-count')).toBe(String(TEXT.length));
    expect(headers.get('dg-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    const wav = parseWav(new Uint8Array(await data.arrayBuffer()));
    expect(wav).toMatchObject({ kind: 'parsed', coding: 'linear16', sampleRateHz: 16_000 });
    const [charge, ...more] = await charges();
    expect(more).toEqual([]);
    expect(charge?.usage).toEqual({ character: TEXT.length });
    expect(headers.get('x-svc-cost-usdc')).toBe(String(charge?.cost));
  });

  it.each([
    [{}, 'audio/mpeg', undefined],
    [{ container: 'wav' }, 'audio/wav', { coding: 'linear16', sampleRateHz: 24_000 }],
    [{ encoding: 'mulaw' }, 'audio/wav', { coding: 'mulaw', sampleRateHz: 8_000 }],
    [{ encoding: 'alaw', sample_rate: 16_000 }, 'audio/wav', { coding: 'alaw' }],
    [{ encoding: 'opus' }, 'audio/ogg', undefined],
    [{ encoding: 'flac' }, 'audio/flac', undefined],
    [{ encoding: 'mulaw', container: 'none' }, 'audio/mulaw;rate=8000;channels=1', undefined],
  ] as const)(
    "Deepgram's client gets speech in the format that it requests: %o",
    async (wish, type, wav) => {
      const { audio } = await open(nameOf('made', wish));
      const { data, rawResponse } = await audio
        .generate({ text: TEXT, model: 'local/flite', ...wish })
        .withRawResponse();
      expect(rawResponse.headers.get('content-type')).toBe(type);
      const bytes = new Uint8Array(await data.arrayBuffer());
      expect(bytes.length).toBeGreaterThan(2_000);
      if (wav !== undefined) expect(parseWav(bytes)).toMatchObject({ kind: 'parsed', ...wav });
    },
  );

  it.each([
    [{ encoding: 'mp3', container: 'wav' }, 'container'],
    [{ encoding: 'linear16', sample_rate: 11_025 }, 'sample_rate'],
    [{ encoding: 'amr' }, 'encoding'],
    [{ mip_opt_out: true }, 'mip_opt_out'],
    [{ callback: 'https://a.example' }, 'callback'],
    [{ text: '' }, 'text'],
    [{ text: 'x'.repeat(4_097) }, 'text'],
  ] as const)(
    "a speech request of Deepgram's client with an invalid format is refused (%#)",
    async (wish, word) => {
      const { audio, charges } = await open(nameOf(`refused ${word}`, wish));
      expect(
        await refusedWith(audio.generate({ text: TEXT, model: 'local/flite', ...wish })),
      ).toMatchObject({ statusCode: 400 });
      expect(await charges()).toEqual([]);
    },
  );

  it("a speech request of Deepgram's client goes to the vendor under the name of its voice", async () => {
    const { audio, charges } = await open('aura');
    market.peer.heard.length = 0;
    const mp3 = await audio.generate({ text: TEXT, model: 'aura-2-luna-en', speed: 1.2 });
    expect(Buffer.from(await mp3.arrayBuffer())).toEqual(soundOf(TEXT));
    const [heard] = market.peer.heard;
    expect(Object.fromEntries(heard?.url.searchParams ?? [])).toEqual({
      model: 'aura-2-luna-en',
      encoding: 'mp3',
      speed: '1.2',
    });
    const wish = { encoding: 'linear16', container: 'none', sample_rate: 24_000 } as const;
    const pcm = await audio.generate({ text: TEXT, model: 'aura-2-luna-en', ...wish });
    expect(Buffer.from(await pcm.arrayBuffer())).toEqual(pcmOf(TEXT));
    expect((await charges()).map(({ usage }) => usage)).toEqual([
      { character: TEXT.length },
      { character: TEXT.length },
    ]);
    const refused = await refusedWith(audio.generate({ text: 'x'.repeat(2_001) }));
    expect(refused).toMatchObject({ statusCode: 400, body: { err_code: 'Bad Request' } });
  });
});

describe('a short-lived token', () => {
  it("a short-lived token stands for its key on the routes of Deepgram's protocol, and on no other", async () => {
    const { client, shopper } = await open('granter');
    const { access_token: accessToken, expires_in } = await client.auth.v1.tokens.grant({
      ttl_seconds: 60,
    });
    expect(expires_in).toBe(60);
    const { url } = market.world;
    const held = deepgramAt({ url, accessToken });
    const spoken = await held.speak.v1.audio.generate({ text: TEXT, model: 'local/flite' });
    expect((await spoken.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    for (const path of ['/v1/audio/speech', '/v1/auth/grant', '/v1/agents/balance']) {
      const answer = await fetch(`${url}${path}`, {
        method: path.endsWith('balance') ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        ...(path.endsWith('balance') ? {} : { body: '{}' }),
      });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    const secret = await new OpenAI({
      apiKey: shopper.key,
      baseURL: `${url}/v1`,
    }).realtime.clientSecrets.create({});
    const other = deepgramAt({ url, accessToken: secret.value });
    expect(
      await refusedWith(other.speak.v1.audio.generate({ text: TEXT, model: 'local/flite' })),
    ).toMatchObject({ statusCode: 401, body: { err_code: 'INVALID_AUTH' } });
  });

  it('a short-lived token lasts as long as requested within the limit, and 30 seconds by default', async () => {
    const { client } = await open('limits');
    const { tokens } = client.auth.v1;
    expect(await tokens.grant()).toMatchObject({ expires_in: 30 });
    for (const ttl_seconds of [0, 3_601, 1.5]) {
      expect(await refusedWith(tokens.grant({ ttl_seconds }))).toMatchObject({
        statusCode: 400,
        body: { err_code: 'Bad Request' },
      });
    }
  });
});

describe('the list of models', () => {
  it("GET /v1/models has Deepgram's format for Deepgram's clients and OpenAI's for others", async () => {
    const { client, shopper } = await open('lister');
    const listed = await client.manage.v1.models.list();
    expect(listed.stt?.map(({ name }) => name)).toContain('deepgram/nova-3');
    expect(listed.tts?.map(({ name }) => name)).toContain('local/flite');
    const { models } = client.manage.v1.projects;
    expect(await models.list('any')).toEqual(listed);
    const flite = listed.tts?.find(({ name }) => name === 'local/flite');
    expect(await models.get('any', flite?.uuid ?? '')).toEqual(flite);
    expect(await client.manage.v1.models.get('nova-3')).toMatchObject({ name: 'deepgram/nova-3' });
    expect(await refusedWith(models.get('any', 'nothing'))).toMatchObject({
      statusCode: 404,
      body: { err_code: 'NOT_FOUND' },
    });
    const openai = new OpenAI({ apiKey: shopper.key, baseURL: `${market.world.url}/v1` });
    const all = await openai.models.list();
    expect(all.data[0]).toMatchObject({ object: 'model', owned_by: 'svc' });
  });
});
