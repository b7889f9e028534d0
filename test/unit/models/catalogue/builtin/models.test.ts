import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Unit } from '../../../../../src/kernel/price.ts';
import { missingRates } from '../../../../../src/models/catalogue/billed-units.ts';
import { BUILTIN_MODELS } from '../../../../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../../../../src/models/catalogue/builtin/providers.ts';
import { withRetirement } from '../../../../../src/models/catalogue/builtin/retiring.ts';
import { CERTAINTIES } from '../../../../../src/models/catalogue/catalogue.ts';
import { dayMs } from '../../../../../src/models/catalogue/retirement.ts';
import { ratesOf } from '../../../../support/rates-of.ts';

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
  readFileSync(new URL('../../../../vectors/catalog/published.json', import.meta.url), 'utf8'),
) as Published;

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));

/** Where people and programs find the name of a model to use. */
const EXAMPLES = [
  'README.md',
  '.env.example',
  'package.json',
  'src/models/catalogue/catalogue-file.ts',
  ...['docs', 'src/app/commands', 'src/routes', 'src/sockets', 'src/protocols'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(md|ts)$/.test(name))
      .map((name) => join(folder, name)),
  ),
];

const entryOf = (id: string) => BUILTIN_MODELS.find((model) => model.id === id);
const picoUsd = (usd: string) => BigInt(Math.round(Number(usd) * 1e6)) * 1_000_000n;

describe('the built-in catalogue', () => {
  it('the built-in catalogue contains every published model id under its modality', () => {
    const listed = Object.entries(published.models).flatMap(([modality, makers]) =>
      Object.entries(makers).flatMap(([maker, names]) =>
        names.split(' ').map((name) => `${modality} ${maker}/${name}`),
      ),
    );
    expect(listed.length).toBeGreaterThan(120);
    const known = new Set(BUILTIN_MODELS.map(({ modality, id }) => `${modality} ${id}`));
    expect(listed.filter((entry) => !known.has(entry))).toEqual([]);
  });

  it('the built-in catalogue has a thinking switch only where the provider accepts thoughts back', () => {
    const sources = BUILTIN_MODELS.flatMap((model) => model.sources);
    const switched = sources.filter(({ thinkingSwitch }) => thinkingSwitch === true);
    expect(switched.length).toBeGreaterThan(0);
    for (const { provider } of switched) {
      expect(BUILTIN_PROVIDERS[provider]).toHaveProperty('thoughts');
    }
  });

  it.each([
    ['deepseek/deepseek-v4-pro', true],
    ['moonshot/kimi-k2.6', true],
    // Its vendor refuses the switch.
    ['moonshot/kimi-k2.7-code', undefined],
    ['zai/glm-5.3', undefined],
  ])('the built-in catalogue has the right thinking switch for %s', (id, thinkingSwitch) => {
    expect(entryOf(id)?.sources.map((source) => source.thinkingSwitch)).toEqual([thinkingSwitch]);
  });

  it.each(published.rates)(
    'the built-in catalogue bills $unit of $id from $provider at $usd for $per',
    (rate) => {
      const { id, provider, unit, usd, per } = rate;
      const source = entryOf(id)?.sources.find((one) => one.provider === provider);
      const known = ratesOf(source?.rates ?? {})[unit] ?? 0n;
      // Exact, or rounded up in the last decimal that a rate has: never below what is paid.
      const pico = picoUsd(usd);
      expect(known * BigInt(per)).toBeGreaterThanOrEqual(pico);
      expect((known - 1n) * BigInt(per)).toBeLessThan(pico);
    },
  );

  it('every built-in price except those of local engines has its origin and date', () => {
    const priced = BUILTIN_MODELS.flatMap(({ id, sources }) =>
      sources.map((source) => ({ ...source, id })),
    ).filter(({ rates }) => Object.keys(rates).length > 0);
    expect(priced.length).toBeGreaterThan(70);
    for (const { id, price, provider } of priced) {
      if (provider === 'local') {
        expect(price, id).toBeUndefined();
        continue;
      }
      expect(price?.source, id).toMatch(/^[\w.:/+(), -]{5,120}$/);
      expect(dayMs(price?.readOn ?? ''), id).toBeDefined();
      expect(CERTAINTIES, id).toContain(price?.certainty);
    }
  });

  it('every built-in chat model with rates has an output limit, except those limited by their context window', () => {
    const unlimited = BUILTIN_MODELS.filter(
      ({ id, maxOutputTokens, modality, sources }) =>
        modality === 'text' &&
        maxOutputTokens === undefined &&
        !id.startsWith('local/') &&
        sources.some(({ rates }) => Object.keys(rates).length > 0),
    );
    expect(unlimited.filter(({ contextWindow }) => contextWindow === undefined)).toEqual([]);
    expect(unlimited.map(({ id }) => id)).toEqual([
      'xai/grok-4.7',
      'xai/grok-4.5',
      'xai/grok-build-0.1',
      'mistral/mistral-large',
      'mistral/mistral-medium',
      'mistral/codestral',
      'mistral/mistral-small',
      'moonshot/kimi-k2.7-code',
      'moonshot/kimi-k2.6',
      'moonshot/kimi-k2.5',
      'sarvam/sarvam-105b',
      'sarvam/sarvam-30b',
      'moonshot/kimi-k3',
    ]);
    for (const { id, contextWindow, maxOutputTokens } of BUILTIN_MODELS) {
      expect(maxOutputTokens ?? 0, id).toBeLessThanOrEqual(contextWindow ?? Infinity);
    }
  });

  it('every built-in model with a shutdown date has a sold successor that lives longer, with two known exceptions', () => {
    const retiring = BUILTIN_MODELS.filter(({ shutdownDate }) => shutdownDate);
    expect(() => withRetirement([])).toThrow('is in the catalogue');
    const orphans = [];
    for (const { id, noticeDate = '', shutdownDate, successor } of retiring) {
      expect(dayMs(shutdownDate ?? ''), id).toBeGreaterThan(dayMs(noticeDate) ?? Infinity);
      if (successor === null) {
        orphans.push(id);
        continue;
      }
      const next = entryOf(successor ?? '');
      expect(Object.keys(next?.sources[0]?.rates ?? {}), id).not.toEqual([]);
      expect((next?.shutdownDate ?? '9999') > (shutdownDate ?? ''), id).toBe(true);
    }
    expect(orphans.sort()).toEqual(['openai/gpt-5.3-codex', 'openai/gpt-5.4-nano']);
  });

  it('no default, command or example names a built-in model that is being shut down', () => {
    const retiring = BUILTIN_MODELS.filter(({ shutdownDate }) => shutdownDate);
    const names = retiring.flatMap(({ id }) => [id, id.slice(id.indexOf('/') + 1)]);
    const named = new RegExp(`(?<![\\w./-])(${names.join('|')})(?![\\w-]|\\.\\d)`);
    expect('use `openai/gpt-4o`.').toMatch(named);
    expect('openai/gpt-realtime-2.1 or gpt-4o-audio').not.toMatch(named);
    const stale = EXAMPLES.flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        // A line with a day says when the model ends.
        .filter((line) => named.test(line) && !/\d{4}-\d\d-\d\d/.test(line))
        .map((line) => `${file}: ${line}`),
    );
    expect(EXAMPLES.length).toBeGreaterThan(60);
    expect(stale).toEqual([]);
  });

  it('every built-in source has rates for all units that its modality bills, or none at all', () => {
    const partly = BUILTIN_MODELS.flatMap(({ id, modality, sources }) =>
      sources
        .filter(({ rates }) => Object.keys(rates).length > 0)
        .filter((source) => missingRates(modality, source).length > 0)
        .map(({ provider }) => `${id} at ${provider}`),
    );
    expect(partly).toEqual([]);
  });

  it('the built-in catalogue has the published context windows', () => {
    const windows = BUILTIN_MODELS.map(({ id, contextWindow }) => [id, contextWindow]);
    expect(Object.fromEntries(windows)).toMatchObject(published.contextWindows);
  });

  it('only the built-in Sarvam models set their own margin, 0, since their published rates include one', () => {
    const own = BUILTIN_MODELS.filter(({ sources }) =>
      sources.some(({ marginBps }) => marginBps !== undefined),
    );
    expect(own.map(({ id, sources }) => [id, sources[0]?.marginBps])).toEqual([
      ['sarvam/sarvam-105b', 0],
      ['sarvam/sarvam-30b', 0],
    ]);
  });

  it('the built-in catalogue tells open weights from closed ones, even of the same maker', () => {
    const open = [
      'openai/gpt-oss-120b',
      'google/gemma-3-12b',
      'meta/llama-3.1-8b',
      'deepseek/deepseek-v3',
      'mistral/mistral-nemo',
      'kokoro/kokoro-82m',
      'baai/bge-m3',
      'microsoft/phi-4',
      'openai/whisper-large-v3-turbo',
      'nvidia/parakeet-tdt-0.6b-v3',
      'qwen/qwen3-tts',
    ];
    const closed = [
      'openai/gpt-4o',
      'google/gemini-2.5-pro',
      'anthropic/claude-opus-4-8',
      'openai/tts-1',
      'mistral/mistral-large',
      'openai/whisper-1',
      'deepgram/nova-3',
      'local/guide',
    ];
    expect(open.filter((id) => entryOf(id)?.isOpenWeight !== true)).toEqual([]);
    expect(closed.filter((id) => entryOf(id)?.isOpenWeight === true)).toEqual([]);
  });
});

describe('the built-in providers', () => {
  it('each built-in provider’s variable is in .env.example, which has no other provider key', () => {
    const named = Object.values(BUILTIN_PROVIDERS).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
    const example = readFileSync('.env.example', 'utf8');
    const section = example.slice(example.indexOf('# Accounts at model providers'));
    const block = section.slice(0, section.indexOf('\n\n'));
    const listed = [...block.matchAll(/^(\w+)=$/gm)].map(([, name]) => name);
    expect(new Set(listed)).toEqual(new Set(named));
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('a built-in provider of a vendor uses the vendor’s key variable, and all other key variables differ', () => {
    const pairs = Object.entries(BUILTIN_PROVIDERS).flatMap(([id, { vendor }]) =>
      vendor === undefined ? [] : [[id, vendor] as const],
    );
    expect(pairs).toEqual([
      ['openai-realtime', 'openai'],
      ['openai-live', 'openai'],
      ['xai-realtime', 'xai'],
      ['assemblyai-batch', 'assemblyai'],
    ]);
    for (const [id, vendor] of pairs) {
      expect(BUILTIN_PROVIDERS[id]?.apiKeyEnv).toBe(BUILTIN_PROVIDERS[vendor]?.apiKeyEnv);
    }
    const variables = Object.values(BUILTIN_PROVIDERS)
      .filter(({ vendor }) => vendor === undefined)
      .flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
    expect(new Set(variables).size).toBe(variables.length);
  });

  it('each built-in provider has an encrypted address and a credential unless it is this server', () => {
    const { local, ...others } = BUILTIN_PROVIDERS;
    expect(local).toEqual({ baseUrl: null, dialect: 'local' });
    for (const [id, { baseUrl, apiKeyEnv }] of Object.entries(others)) {
      expect(baseUrl, id).toMatch(/^(https|wss):\/\/[\w./-]+[^/]$/);
      expect(apiKeyEnv, id).toMatch(/^[A-Z]+_API_KEY$/);
    }
  });
});
