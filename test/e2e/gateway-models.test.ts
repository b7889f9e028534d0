import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UNITS } from '../../src/kernel/price.ts';
import { logLines } from '../support/log-lines.ts';
import {
  ask,
  type Developer,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-models-'));
const said = logLines();
const secret = (name: string) => (name === 'OPENAI_API_KEY' ? 'sk-test' : undefined);
let world: WholeWorld;
let developer: Developer;
beforeAll(async () => {
  const file = join(directory, 'catalog.json');
  const source = (provider: string, rates: object) => ({
    rail: 'self-host',
    provider,
    upstreamModel: 'm',
    rates,
  });
  const provider = { baseUrl: 'https://models.invalid/v1', dialect: 'openai' };
  const catalogue = {
    providers: { dear: provider, cheap: provider },
    models: [
      {
        id: 'acme/fast-1',
        displayName: 'Fast 1',
        modality: 'text',
        isOpenWeight: true,
        contextWindow: 32_000,
        sources: [
          source('dear', { text_input_token: '2.5', text_output_token: '10' }),
          source('cheap', { text_input_token: '0.048', text_output_token: '0.193' }),
        ],
      },
    ],
  };
  writeFileSync(file, JSON.stringify(catalogue));
  world = await startWorld({ CATALOG_FILE: file }, { secret, log: said.log });
  developer = await newDeveloper(world.api, 'models');
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

type Priced = {
  readonly id: string;
  readonly sources: readonly { readonly rates: Readonly<Record<string, unknown>> }[];
};

const priced = () => ask(`${world.url}/v1/developer/gateway/models`, developer);

describe('GET /v1/developer/gateway/models', () => {
  it("GET /v1/developer/gateway/models shows a model with every source, the cheapest first, at the upstream's rates", async () => {
    const { status, body } = await priced();
    expect(status).toBe(200);
    const models = body.models as readonly Priced[];
    const own = { rail: 'self-host', marginBps: 500, price: null };
    expect(models.find(({ id }) => id === 'acme/fast-1')).toEqual({
      id: 'acme/fast-1',
      displayName: 'Fast 1',
      modality: 'text',
      contextWindow: 32_000,
      isOpenWeight: true,
      maxOutputTokens: null,
      shutdownDate: null,
      successor: null,
      sources: [
        { ...own, provider: 'cheap', rates: { text_input_token: 0.048, text_output_token: 0.193 } },
        { ...own, provider: 'dear', rates: { text_input_token: 2.5, text_output_token: 10 } },
      ],
    });
    expect(models.find(({ id }) => id === 'openai/gpt-4o')).toMatchObject({
      displayName: null,
      contextWindow: 128_000,
      isOpenWeight: false,
      maxOutputTokens: 16_384,
      shutdownDate: '2027-01-14',
      successor: 'openai/gpt-6-luna',
      sources: [{ rail: 'direct-account', provider: 'openai', price: { certainty: 'list' } }],
    });
  });

  it('GET /v1/developer/gateway/models has the models of /v1/models, each with sources and known units alone', async () => {
    const { body } = await priced();
    const models = body.models as readonly Priced[];
    const plain = await ask(`${world.url}/v1/models`, developer);
    const listed = plain.body.data as readonly { readonly id: string }[];
    expect(models.map(({ id }) => id)).toEqual(listed.map(({ id }) => id));
    for (const { id, sources } of models) {
      expect(sources.length, id).toBeGreaterThan(0);
      for (const [unit, rate] of sources.flatMap(({ rates }) => Object.entries(rates))) {
        expect(UNITS, id).toContain(unit);
        expect(rate, id).toBeTypeOf('number');
      }
    }
  });

  it('GET /v1/developer/gateway/models refuses an agent key, and a call without a credential', async () => {
    const url = `${world.url}/v1/developer/gateway/models`;
    expect((await ask(url)).status).toBe(401);
    const agent = await world.fund('curious');
    const headers = { authorization: `Bearer ${agent.agentKey}` };
    expect((await ask(url, { headers })).status).toBe(401);
    expect((await ask(url, { headers: await developer.sign() })).status).toBe(200);
  });
});

describe('GET /v1/models/{id}', () => {
  it('GET /v1/models/{id} returns the entry of the list, with prices on request', async () => {
    for (const query of ['', '?include=pricing']) {
      const { body } = await ask(`${world.url}/v1/models${query}`, developer);
      const entries = body.data as readonly Priced[];
      const one = await ask(`${world.url}/v1/models/acme%2Ffast-1${query}`, developer);
      expect(one.status).toBe(200);
      expect(one.body).toEqual(entries.find(({ id }) => id === 'acme/fast-1'));
      expect((await ask(`${world.url}/v1/models/acme/fast-1${query}`, developer)).body).toEqual(
        one.body,
      );
      expect('pricing' in one.body).toBe(query !== '');
    }
  });
});

describe('the start', () => {
  it('the server logs at its start which models stay off, and which credential or rate they lack', () => {
    const [line, ...more] = said.lines.filter(({ msg }) => msg.startsWith('models stay off'));
    expect(more).toEqual([]);
    expect(line?.credentials).toMatchObject({ anthropic: 'ANTHROPIC_API_KEY' });
    expect(line?.credentials).not.toHaveProperty('openai');
    expect(line?.rates).toMatchObject({ 'openai/tts-1-hd at openai': ['character'] });
    expect(JSON.stringify(line)).not.toContain('sk-test');
  });
});
