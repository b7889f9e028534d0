import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'vitest';
import type { ProviderEntry } from '../../src/models/catalogue/builtin/builtin-model.ts';
import { BUILTIN_MODELS } from '../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../src/models/catalogue/builtin/providers.ts';
import { createFakeLedger } from './fake-ledger.ts';
import { AGENT_KEY, gatewayWorld } from './gateway-world.ts';
import { responsesUpstream } from './responses-upstream.ts';

const AGENT = 1;
const FUNDS = 10_000_000n;

const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'x',
  choices: [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Good morning.' } },
  ],
  usage: { prompt_tokens: 1_200, completion_tokens: 400, total_tokens: 1_600 },
};

/** The built-in models of OpenAI at a peer that refuses what the vendor refuses; an agent with ten dollars, and Anthropic's SDK for it. */
export async function openAiWorld() {
  const upstream = await responsesUpstream({ chat: COMPLETION });
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const { baseUrl } = upstream;
  const gateway = await gatewayWorld({
    ledger,
    secret: () => 'sk-pool',
    providers: { openai: { ...BUILTIN_PROVIDERS.openai, baseUrl } as ProviderEntry },
    models: BUILTIN_MODELS.filter(
      ({ id, modality }) => id.startsWith('openai/') && modality === 'text',
    ),
  });
  const claude = new Anthropic({
    apiKey: AGENT_KEY,
    authToken: null,
    baseURL: gateway.baseUrl.replace(/\/v1$/, ''),
    maxRetries: 0,
  });
  return {
    upstream,
    ledger,
    gateway,
    claude,
    /** No hold is left, and all that is gone is charged. */
    async balanced(): Promise<void> {
      await expect.poll(() => ledger.openHolds()).toBe(0);
      const funds = await ledger.funds(AGENT);
      expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
