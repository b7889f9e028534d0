import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'vitest';
import type { LocalEngines } from '../../src/engines/engine.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { LOCAL_MODELS } from '../../src/models/catalogue/builtin/local.ts';
import { createLocalGuideRail } from '../../src/models/providers/local/local-guide.ts';
import { createFakeLedger } from './fake-ledger.ts';
import { AGENT_KEY, gatewayWorld } from './gateway-world.ts';
import { streamUpstream } from './stream-upstream.ts';

export const AGENT = 1;
const MODEL_ID = 'acme/fast-1';
export const messages = [{ role: 'user' as const, content: 'Good morning?' }];
export const asked = { model: MODEL_ID, max_tokens: 1_000, messages };
export const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

/** A model that an OpenAI peer sells, and the guide; an agent with one dollar, and Anthropic's SDK for it. */
export async function messagesWorld(engines?: Pick<LocalEngines, 'guide' | 'tokens'>) {
  const upstream = await streamUpstream();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_000_000n, reference: 'start' });
  const rates = { text_input_token: '2.5', text_output_token: '10' };
  const shared = { clock: systemClock, random: systemRandom };
  const callerFacts = async () => ({
    agentName: 'scout',
    spendableRaw: 1_000_000n,
    heldRaw: 0n,
    spentRaw: 0n,
  });
  const gateway = await gatewayWorld({
    ledger,
    ...(engines && {
      tokens: engines.tokens,
      localGuide: createLocalGuideRail({ guide: engines.guide, callerFacts, ...shared }),
    }),
    providers: {
      up: { baseUrl: upstream.baseUrl, dialect: 'openai' },
      local: { baseUrl: null, dialect: 'local' },
    },
    models: [
      ...LOCAL_MODELS,
      {
        id: MODEL_ID,
        modality: 'text',
        sources: [{ rail: 'self-host', provider: 'up', upstreamModel: 'x', rates }],
      },
    ],
  });
  const claude = new Anthropic({
    apiKey: AGENT_KEY,
    authToken: null,
    baseURL: gateway.baseUrl.replace(/\/v1$/, ''),
    maxRetries: 0,
  });
  const balanced = async () => {
    await expect.poll(() => ledger.openHolds()).toBe(0);
    const funds = await ledger.funds(AGENT);
    expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(1_000_000n);
  };
  return {
    upstream,
    ledger,
    gateway,
    claude,
    balanced,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
