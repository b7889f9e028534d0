import { expect } from 'vitest';
import type { ProviderEntry } from '../../src/models/catalogue/builtin/builtin-model.ts';
import { BUILTIN_MODELS } from '../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../src/models/catalogue/builtin/providers.ts';
import { anthropicUpstream } from './anthropic-upstream.ts';
import { createFakeLedger } from './fake-ledger.ts';
import { gatewayWorld } from './gateway-world.ts';
import { responsesUpstream } from './responses-upstream.ts';
import { streamUpstream, wholeAnswer } from './stream-upstream.ts';

const FUNDS = 100_000_000n;
const KEY = 'sk-pool';

/** A built-in model of each vendor whose rules the strict upstreams keep. */
export const STRICT_MODELS = {
  claude: 'anthropic/claude-sonnet-5',
  haiku: 'anthropic/claude-haiku-4-5',
  gpt: 'openai/gpt-5.4',
  mistral: 'mistral/mistral-large',
  gemini: 'google/gemini-3.5-flash',
} as const;

export type StrictModel = keyof typeof STRICT_MODELS;

/** The routes of the three dialects of text. */
export const ROUTES = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
} as const;

export type StrictDialect = keyof typeof ROUTES;

/** Built-in models behind upstreams that refuse what their vendors refuse, and an agent with a hundred dollars. */
export async function strictWorld() {
  const claude = await anthropicUpstream(KEY);
  const gpt = await responsesUpstream();
  const mistral = await streamUpstream('mistral');
  const gemini = await streamUpstream('gemini');
  for (const one of [mistral, gemini]) one.play(wholeAnswer({ content: 'Good morning.' }));
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: 1, amountRaw: FUNDS, reference: 'start' });
  const at = (provider: string, baseUrl: string) =>
    ({ ...BUILTIN_PROVIDERS[provider], baseUrl }) as ProviderEntry;
  const names: readonly string[] = Object.values(STRICT_MODELS);
  const gateway = await gatewayWorld({
    ledger,
    secret: () => KEY,
    providers: {
      anthropic: at('anthropic', claude.baseUrl),
      openai: at('openai', gpt.baseUrl),
      mistral: at('mistral', mistral.baseUrl),
      google: at('google', gemini.baseUrl),
    },
    models: BUILTIN_MODELS.filter(({ id }) => names.includes(id)),
  });
  const bodies: Readonly<Record<StrictModel, () => unknown>> = {
    claude: () => claude.seen.at(-1)?.body,
    haiku: () => claude.seen.at(-1)?.body,
    gpt: () => gpt.seen.at(-1)?.body,
    mistral: () => mistral.seen.at(-1),
    gemini: () => gemini.seen.at(-1),
  };
  return {
    claude,
    gpt,
    mistral,
    gemini,
    gateway,
    /** Asks a model in a dialect. The answer has to be one, and nothing may be held behind it. Returns what the vendor got. */
    async ask(dialect: StrictDialect, model: StrictModel, body: object): Promise<unknown> {
      const cap = dialect === 'messages' ? { max_tokens: 64 } : {};
      const asked = { ...cap, ...body, model: STRICT_MODELS[model] };
      const response = await gateway.request(ROUTES[dialect], { body: asked });
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
      return bodies[model]();
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      for (const one of [claude, gpt, mistral, gemini]) await one[Symbol.asyncDispose]();
    },
  };
}
