import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'vitest';
import type { ProviderEntry } from '../../src/models/catalogue/builtin/builtin-model.ts';
import { BUILTIN_MODELS } from '../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../src/models/catalogue/builtin/providers.ts';
import type { UpstreamLimits } from '../../src/models/providers/upstream-pool.ts';
import { anthropicUpstream } from './anthropic-upstream.ts';
import { createFakeLedger } from './fake-ledger.ts';
import { AGENT_KEY, gatewayWorld } from './gateway-world.ts';
import { openAiUpstream } from './openai-upstream.ts';

export const AGENT = 1;
const FUNDS = 1_000_000n;
export const MODEL = 'acme/claude-1';
export const KEY = 'sk-ant-upstream';
/** Of the same agent, with prompts that are marked for caches. */
export const AUTO_KEY = `svc_${'c'.repeat(64)}`;
export const messages = [{ role: 'user' as const, content: 'Good morning?' }];

/** The older of them takes no effort. */
const BUILTIN = ['anthropic/claude-haiku-4-5', 'anthropic/claude-sonnet-5'];

const RATES = { text_input_token: '1', text_output_token: '5', cached_input_token: '0.1' };
const DEARER = { text_input_token: '5', text_output_token: '20' };

/**
 * A model that a Messages peer sells, and an OpenAI peer dearer; an agent with one dollar. The built-in provider of that
 * dialect is the peer too.
 */
export async function anthropicWorld(limits: Partial<UpstreamLimits> = {}, secret = KEY) {
  const upstream = await anthropicUpstream(KEY);
  const spare = await openAiUpstream();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const source = (provider: string, rates: typeof RATES | typeof DEARER) =>
    ({ rail: 'direct-account', provider, upstreamModel: `${provider}-model`, rates }) as const;
  const gateway = await gatewayWorld({
    ledger,
    limits,
    secret: () => secret,
    others: new Map([[AUTO_KEY, { agentId: AGENT, keyId: 2, promptCaching: 'auto' }]]),
    providers: {
      claude: { baseUrl: upstream.baseUrl, dialect: 'anthropic', apiKeyEnv: 'CLAUDE_KEY' },
      spare: { baseUrl: spare.baseUrl, dialect: 'openai' },
      anthropic: { ...BUILTIN_PROVIDERS.anthropic, baseUrl: upstream.baseUrl } as ProviderEntry,
    },
    models: [
      ...BUILTIN_MODELS.filter(({ id }) => BUILTIN.includes(id)),
      { id: MODEL, modality: 'text', sources: [source('claude', RATES)] },
      {
        id: 'acme/spared',
        modality: 'text',
        sources: [source('claude', RATES), source('spare', DEARER)],
      },
    ],
  });
  const chat = async (more: object = {}, headers: Record<string, string> = {}) => {
    const response = await gateway.request('/chat/completions', {
      headers,
      body: { model: MODEL, messages, ...more },
    });
    return { status: response.status, headers: response.headers, json: await response.json() };
  };
  const claude = new Anthropic({
    apiKey: AGENT_KEY,
    authToken: null,
    baseURL: gateway.baseUrl.replace(/\/v1$/, ''),
    maxRetries: 0,
  });
  const balanced = async () => {
    await expect.poll(() => ledger.openHolds()).toBe(0);
    const funds = await ledger.funds(AGENT);
    expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
  };
  return {
    upstream,
    spare,
    ledger,
    gateway,
    chat,
    claude,
    balanced,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      await spare[Symbol.asyncDispose]();
    },
  };
}
