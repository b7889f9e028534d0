import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { missingRates } from '../../../../src/gateway/billed-units.ts';
import { ratesOf } from '../../../../src/gateway/build-catalogue.ts';
import { BUILTIN_MODELS } from '../../../../src/gateway/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../../../src/gateway/builtin/providers.ts';
import type { Unit } from '../../../../src/kernel/price.ts';

type Published = {
  readonly models: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly contextWindows: Readonly<Record<string, number>>;
  /** `usd` for `per` units, as the provider prints it. */
  readonly rates: readonly {
    readonly id: string;
    readonly provider: string;
    readonly unit: Unit;
    readonly usd: string;
    readonly per: number;
  }[];
};

const published = JSON.parse(
  readFileSync(new URL('../../../vectors/catalog/published.json', import.meta.url), 'utf8'),
) as Published;

const entryOf = (id: string) => BUILTIN_MODELS.find((model) => model.id === id);
const picoUsd = (usd: string) => BigInt(Math.round(Number(usd) * 1e6)) * 1_000_000n;

describe('the built-in catalogue', () => {
  it('knows every published id by its modality', () => {
    const listed = Object.entries(published.models).flatMap(([modality, makers]) =>
      Object.entries(makers).flatMap(([maker, names]) =>
        names.split(' ').map((name) => `${modality} ${maker}/${name}`),
      ),
    );
    expect(listed.length).toBeGreaterThan(120);
    const known = new Set(BUILTIN_MODELS.map(({ modality, id }) => `${modality} ${id}`));
    expect(listed.filter((entry) => !known.has(entry))).toEqual([]);
  });

  it.each(published.rates)('buys $unit of $id from $provider at $usd for $per', (rate) => {
    const { id, provider, unit, usd, per } = rate;
    const source = entryOf(id)?.sources.find((one) => one.provider === provider);
    const known = ratesOf(source?.rates ?? {})[unit] ?? 0n;
    // Exact, or rounded up in the last decimal that a rate has: never below what is paid.
    const pico = picoUsd(usd);
    expect(known * BigInt(per)).toBeGreaterThanOrEqual(pico);
    expect((known - 1n) * BigInt(per)).toBeLessThan(pico);
  });

  it('prices nothing that has no published price, but what runs here and what has been sold long', () => {
    const isPublished = (id: string) => published.rates.some((rate) => rate.id === id);
    const others = BUILTIN_MODELS.filter(
      ({ id, sources }) =>
        !id.startsWith('local/') &&
        !isPublished(id) &&
        sources.some(({ rates }) => Object.keys(rates).length > 0),
    );
    expect(others.map(({ id }) => id)).toEqual([
      'openai/whisper-1',
      'openai/gpt-4o-mini-transcribe',
      'openai/gpt-realtime',
    ]);
  });

  it('has a rate for whatever a modality bills, or none at all', () => {
    const partly = BUILTIN_MODELS.flatMap(({ id, modality, sources }) =>
      sources
        .filter(({ rates }) => Object.keys(rates).length > 0)
        .filter((source) => missingRates(modality, source).length > 0)
        .map(({ provider }) => `${id} at ${provider}`),
    );
    expect(partly).toEqual([]);
  });

  it('gives the context windows that are known, and no other', () => {
    const windows = BUILTIN_MODELS.flatMap(({ id, contextWindow }) =>
      contextWindow === undefined ? [] : [[id, contextWindow] as const],
    );
    expect(Object.fromEntries(windows)).toEqual(published.contextWindows);
  });

  it('adds no margin where the published rate has it inside', () => {
    const own = BUILTIN_MODELS.filter(({ sources }) =>
      sources.some(({ marginBps }) => marginBps !== undefined),
    );
    expect(own.map(({ id, sources }) => [id, sources[0]?.marginBps])).toEqual([
      ['sarvam/sarvam-105b', 0],
      ['sarvam/sarvam-30b', 0],
    ]);
  });

  it('tells open weights from closed ones, also of one maker', () => {
    const open = [
      ...['openai/gpt-oss-120b', 'google/gemma-3-12b', 'meta/llama-3.1-8b', 'deepseek/deepseek-v3'],
      ...['mistral/mistral-nemo', 'kokoro/kokoro-82m', 'baai/bge-m3', 'microsoft/phi-4'],
      ...['openai/whisper-large-v3-turbo', 'nvidia/parakeet-tdt-0.6b-v3', 'qwen/qwen3-tts'],
    ];
    const closed = [
      ...['openai/gpt-4o', 'google/gemini-2.5-pro', 'anthropic/claude-opus-4-8', 'openai/tts-1'],
      ...['mistral/mistral-large', 'openai/whisper-1', 'deepgram/nova-3', 'local/guide'],
    ];
    expect(open.filter((id) => entryOf(id)?.isOpenWeight !== true)).toEqual([]);
    expect(closed.filter((id) => entryOf(id)?.isOpenWeight === true)).toEqual([]);
  });
});

describe('the built-in providers', () => {
  it('each name a variable that .env.example has, and it has no other key of a provider', () => {
    const named = Object.values(BUILTIN_PROVIDERS).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
    const example = readFileSync('.env.example', 'utf8');
    const section = example.slice(example.indexOf('# Accounts at model providers'));
    const block = section.slice(0, section.indexOf('\n\n'));
    const listed = [...block.matchAll(/^(\w+)=$/gm)].map(([, name]) => name);
    expect(new Set(listed)).toEqual(new Set(named));
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('are asked over an encrypted connection, with a credential, unless they are this server', () => {
    const { local, ...others } = BUILTIN_PROVIDERS;
    expect(local).toEqual({ baseUrl: null, dialect: 'local' });
    for (const [id, { baseUrl, apiKeyEnv }] of Object.entries(others)) {
      expect(baseUrl, id).toMatch(/^(https|wss):\/\/[\w./-]+[^/]$/);
      expect(apiKeyEnv, id).toMatch(/^[A-Z]+_API_KEY$/);
    }
  });
});
