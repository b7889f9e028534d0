import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../../src/config/config-error.ts';
import { priceRaw } from '../../../../src/kernel/price.ts';
import { missingRates } from '../../../../src/models/catalogue/billed-units.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import { BUILTIN_MODELS } from '../../../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../../../src/models/catalogue/builtin/providers.ts';
import { loadCatalogue } from '../../../../src/models/catalogue/load-catalogue.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';

const GOOD = new URL('../../../vectors/catalog/good.json', import.meta.url).pathname;
/** A day on which nothing that is built in retires within 90 days. */
const clock = { now: () => Date.UTC(2026, 7, 1) };
const none = () => undefined;
const every = (name: string) => (name.endsWith('_KEY') ? `secret of ${name}` : undefined);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalogue-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the catalogue', () => {
  it('the catalogue has every local engine at a price above zero without any configuration', async () => {
    const { models } = await loadCatalogue({ clock, secret: none });
    expect(models.map(({ id, modality }) => `${id} ${modality}`)).toEqual([
      'local/guide text',
      'local/flite tts',
      'local/pocketsphinx stt',
      'local/grammar stt',
      'local/use-lite embedding',
      'local/realtime realtime',
    ]);
    for (const { sources } of models) {
      const [source] = sources;
      const rates = Object.entries(source?.rates ?? {});
      expect(rates.length).toBeGreaterThan(0);
      for (const [unit, rate] of rates) {
        expect(priceRaw({ [unit]: 1 }, { [unit]: rate }, 500)).toBeGreaterThan(0n);
      }
    }
  });

  it('the catalogue enables exactly the sources whose credential is configured', async () => {
    const secret = (name: string) => (name === 'OPENAI_API_KEY' ? 'sk-1' : undefined);
    const { models, provider } = await loadCatalogue({ clock, secret });
    const makers = new Set(models.map(({ id }) => id.split('/')[0]));
    expect([...makers].sort()).toEqual(['local', 'openai']);
    expect(provider('openai')).toMatchObject({ apiKey: 'sk-1', dialect: 'openai' });
    expect(provider('anthropic')).toMatchObject({ apiKey: null });
    expect(provider('nobody')).toBeUndefined();
  });

  it('a vendor’s address variable moves the vendor, and an invalid address stops the start', async () => {
    const at = (baseUrl: string) => (name: string) =>
      name === 'VENDOR_ASSEMBLYAI_BASE_URL' ? baseUrl : undefined;
    const moved = 'https://api.eu.assemblyai.com/v2';
    const { provider } = await loadCatalogue({ clock, secret: at(moved) });
    expect(provider('assemblyai-batch')).toMatchObject({ baseUrl: moved });
    expect(provider('assemblyai')?.baseUrl).toMatch(/^wss:/);
    expect(provider('cartesia')).toMatchObject({ baseUrl: 'https://api.cartesia.ai' });
    const bad = loadCatalogue({ clock, secret: at('eu') });
    await expect(bad).rejects.toThrow(/VENDOR_ASSEMBLYAI_BASE_URL/);
    await expect(bad).rejects.toBeInstanceOf(ConfigError);
  });

  it('the catalogue reports providers without their variable and sources without their rates', async () => {
    type Missing = Parameters<NonNullable<Parameters<typeof loadCatalogue>[0]['missing']>>[0];
    const told: Missing[] = [];
    const missing = (all: Missing) => void told.push(all);
    await loadCatalogue({ clock, secret: none, missing });
    const [without, ...more] = told;
    expect(more).toEqual([]);
    expect(without?.credentials).toMatchObject({ openai: 'OPENAI_API_KEY', xai: 'XAI_API_KEY' });
    expect(without?.credentials).not.toHaveProperty('local');
    // Where the account is missing too, the account is what it takes first.
    expect(without?.rates).toEqual({});

    const secret = (name: string) => (name === 'OPENAI_API_KEY' ? 'sk-1' : undefined);
    await loadCatalogue({ clock, secret, missing });
    expect(told[1]?.credentials).not.toHaveProperty('openai');
    expect(told[1]?.rates).toMatchObject({
      'openai/tts-1-hd at openai': ['character'],
      'openai/gpt-4o-transcribe at openai': ['audio_second'],
    });
    expect(told[1]?.rates).not.toHaveProperty(['openai/gpt-4o at openai']);
  });

  it('the catalogue names at the start the usable models that retire within half a year, soonest first', async () => {
    const secret = (name: string) => (name === 'OPENAI_API_KEY' ? 'sk-1' : undefined);
    const told: unknown[] = [];
    const retiring = (models: unknown) => void told.push(models);
    const at = (day: string) => ({ now: () => Date.parse(day) });
    await loadCatalogue({ secret, clock: at('2026-11-24'), retiring });
    expect(told.map((models) => Object.entries(models as object))).toEqual([
      [
        ['openai/tts-1', '2027-01-06 -> openai/gpt-realtime-2.1-mini'],
        ['openai/gpt-4o', '2027-01-14 -> openai/gpt-6-luna'],
        ['openai/gpt-4o-mini', '2027-01-14 -> openai/gpt-6-luna'],
        ['openai/gpt-realtime', '2027-01-20 -> openai/gpt-realtime-2.1'],
        ['openai/whisper-1', '2027-02-26 -> openai/gpt-transcribe'],
        ['openai/gpt-4o-mini-transcribe', '2027-02-26 -> openai/gpt-transcribe'],
        ['openai/gpt-5.4-nano', '2027-04-01 -> no successor'],
        ['openai/gpt-5.3-codex', '2027-04-01 -> no successor'],
      ],
    ]);

    await loadCatalogue({ secret, clock: at('2026-05-01'), retiring });
    await loadCatalogue({ secret: none, clock: at('2026-11-24'), retiring });
    expect(told).toHaveLength(1);

    await loadCatalogue({ secret, clock: at('2027-02-27'), retiring });
    expect(told[1]).toMatchObject({
      'openai/whisper-1': '2027-02-26 -> openai/gpt-transcribe',
      'openai/gpt-5.4-nano': '2027-04-01 -> no successor',
    });
  });

  it('the catalogue lists no source without all its rates and no model without a source', async () => {
    const { models } = await loadCatalogue({ clock, secret: every });
    for (const { id, modality, sources } of models) {
      expect(sources, id).not.toEqual([]);
      for (const source of sources) expect(missingRates(modality, source), id).toEqual([]);
    }
    const listed = (wanted: string) => models.some(({ id }) => id === wanted);
    expect(['microsoft/phi-4', 'perplexity/sonar'].filter(listed)).toEqual([]);
  });

  it('the catalogue names each model once and only providers that exist', () => {
    const ids = BUILTIN_MODELS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const named = BUILTIN_MODELS.flatMap(({ sources }) => sources.map(({ provider }) => provider));
    expect(named.filter((id) => BUILTIN_PROVIDERS[id] === undefined)).toEqual([]);
  });

  it('the catalogue lists the sources of a model cheapest first', async () => {
    const { find } = await loadCatalogue({ clock, secret: every });
    const hosts = find('openai/whisper-large-v3-turbo')?.sources.map(({ provider }) => provider);
    expect(hosts).toEqual(['deepinfra', 'groq']);
  });

  it('the catalogue finds a model by a bare name that one maker has, and suggests all models when several do', async () => {
    const { find, findKeyed, suggest } = await loadCatalogue({ clock, secret: every });
    expect(find('gpt-4o')).toBe(find('openai/gpt-4o'));
    expect(findKeyed('gpt-4o')).toBe(findKeyed('openai/gpt-4o'));
    expect([find('gpt-4'), suggest('gpt-4')]).toEqual([undefined, []]);
    const twins = buildCatalogue({
      providers: new Map([['local', { baseUrl: null, dialect: 'local' as const }]]),
      models: ['a/same', 'b/same', 'b/own'].map((id) => ({
        id,
        modality: 'text' as const,
        sources: [
          {
            rail: 'self-host' as const,
            provider: 'local',
            upstreamModel: 'x',
            rates: { text_input_token: '1', text_output_token: '1' },
          },
        ],
      })),
      secret: () => undefined,
    });
    expect([twins.find('same'), twins.suggest('same')]).toEqual([undefined, ['a/same', 'b/same']]);
    expect(twins.find('own')?.id).toBe('b/own');
  });
});

describe('CATALOG_FILE', () => {
  it('CATALOG_FILE adds models, replaces models with the same id, and keeps the rest', async () => {
    const catalogue = await loadCatalogue({ clock, file: GOOD, secret: every });
    const fast = catalogue.find('acme/fast-1');
    expect(fast?.contextWindow).toBe(128_000);
    expect(fast?.sources.map(({ provider }) => provider)).toEqual(['shed', 'acme']);
    expect(fast?.sources.map(({ marginBps }) => marginBps)).toEqual([500, 500]);
    expect(catalogue.find('local/guide')?.sources[0]?.rates).toEqual({ request: 1_000_000_000n });
    expect(catalogue.find('local/flite')).toBeDefined();
  });

  it('CATALOG_FILE needs no credential for a provider that names none, and disables one without its own', async () => {
    const catalogue = await loadCatalogue({ clock, file: GOOD, secret: none });
    const fast = catalogue.find('acme/fast-1');
    expect(fast?.sources.map(({ provider }) => provider)).toEqual(['shed']);
    expect(catalogue.provider('shed')?.apiKey).toBeNull();
  });

  it('an invalid CATALOG_FILE stops the start with the variable, the file and the place of the mistake', async () => {
    const bad = join(folder, 'bad.json');
    await writeFile(bad, JSON.stringify({ models: [{ id: 'a/b', modality: 'text', sources: 1 }] }));
    const load = loadCatalogue({ clock, file: bad, secret: none });
    await expect(load).rejects.toThrow(ConfigError);
    await expect(load).rejects.toThrow(`CATALOG_FILE ${bad}: models[0].sources: `);
  });

  it('an unreadable or too large CATALOG_FILE stops the start', async () => {
    const absent = join(folder, 'absent.json');
    await expect(loadCatalogue({ clock, file: absent, secret: none })).rejects.toThrow(
      /CATALOG_FILE .*ENOENT/,
    );
    const huge = join(folder, 'huge.json');
    await writeFile(huge, '');
    await truncate(huge, MODEL_LIMITS.catalogue.fileBytes + 1);
    await expect(loadCatalogue({ clock, file: huge, secret: none })).rejects.toThrow(/larger than/);
  });
});
