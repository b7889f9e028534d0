import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { gatewayWorld } from '../../support/gateway-world.ts';
import { openAiUpstream } from '../../support/openai-upstream.ts';

const AGENT = 1;
const FUNDS = 1_000_000n;
const OTHER_KEY = `svc_${'d'.repeat(64)}`;
const LONG = 'Be brief. '.repeat(500);
const TOLD = { prompt_tokens: 1_200, completion_tokens: 8 };

/** A model that a cheap peer and a dearer one sell, both with a tenth of the price for what they have cached. */
async function world() {
  const cheap = await openAiUpstream();
  const dear = await openAiUpstream();
  for (const upstream of [cheap, dear]) upstream.usage = TOLD;
  const ledger = createFakeLedger();
  for (const agentId of [AGENT, 2]) {
    await ledger.credit({ agentId, amountRaw: FUNDS, reference: `start ${agentId}` });
  }
  const source = (provider: string, input: string, cached: string) =>
    ({
      rail: 'direct-account',
      provider,
      upstreamModel: `${provider}-model`,
      rates: { text_input_token: input, text_output_token: '10', cached_input_token: cached },
    }) as const;
  const gateway = await gatewayWorld({
    ledger,
    others: new Map([[OTHER_KEY, { agentId: 2, keyId: 2, accountId: 'acct_000000000002' }]]),
    providers: {
      cheap: { baseUrl: cheap.baseUrl, dialect: 'openai' },
      dear: { baseUrl: dear.baseUrl, dialect: 'openai' },
    },
    models: [
      {
        id: 'acme/both',
        modality: 'text',
        sources: [source('cheap', '2', '0.2'), source('dear', '4', '0.4')],
      },
    ],
  });
  const ask = async (more: object = {}, headers: Record<string, string> = {}) => {
    const messages = [
      { role: 'system', content: LONG },
      { role: 'user', content: 'Good morning?' },
    ];
    const before = dear.seen.length;
    const body = { model: 'acme/both', messages, max_tokens: 16, ...more };
    const response = await gateway.request('/chat/completions', { body, headers });
    expect(response.status).toBe(200);
    await response.text();
    return dear.seen.length > before ? 'dear' : 'cheap';
  };
  return {
    cheap,
    dear,
    ledger,
    ask,
    /** The cheap peer fails once, and the dear one has the prompt from then on. */
    async moved(more: object = {}) {
      cheap.faults.push({ kind: 'status', status: 500 });
      expect(await ask(more)).toBe('dear');
    },
    async [Symbol.asyncDispose]() {
      expect(ledger.openHolds()).toBe(0);
      const funds = await ledger.funds(AGENT);
      expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
      await gateway[Symbol.asyncDispose]();
      await cheap[Symbol.asyncDispose]();
      await dear[Symbol.asyncDispose]();
    },
  };
}

describe('the source that served a prompt', () => {
  it('the source that served a prompt is called first for the next turn, though another is cheaper without the cache', async () => {
    await using w = await world();
    expect(await w.ask()).toBe('cheap');
    await w.moved();
    expect(await w.ask()).toBe('dear');
    expect(await w.ask({ messages: [{ role: 'user', content: 'Other.' }] })).toBe('cheap');
  });

  it('the source that served a prompt is found by the caller’s prompt_cache_key, which is also sent upstream', async () => {
    await using w = await world();
    const prompt_cache_key = 'conversation';
    await w.moved({ prompt_cache_key });
    expect(w.dear.seen[0]?.body).toMatchObject({ prompt_cache_key });
    expect(await w.ask({ prompt_cache_key, messages: [{ role: 'user', content: LONG }] })).toBe(
      'dear',
    );
  });

  it('the source that served a prompt does not override the caller’s order, choice or price limit', async () => {
    await using w = await world();
    await w.moved();
    for (const wish of [
      { provider: { order: ['cheap'] } },
      { provider: { only: ['cheap'] } },
      { provider: { ignore: ['dear'] } },
      { max_price: { prompt: 3 } },
    ]) {
      expect(await w.ask(wish), JSON.stringify(wish)).toBe('cheap');
    }
  });

  it('the source that served a prompt is passed over when it fails, and the next turn goes to the one that took over', async () => {
    await using w = await world();
    await w.moved();
    w.dear.faults.push({ kind: 'status', status: 500 });
    const asked = w.cheap.seen.length;
    expect(await w.ask()).toBe('dear');
    expect(w.cheap.seen).toHaveLength(asked + 1);
    // It serves the prompt now, and so holds it.
    expect(await w.ask()).toBe('cheap');
  });

  it('the source that served a prompt is remembered for its account alone', async () => {
    await using w = await world();
    await w.moved();
    expect(await w.ask({}, { authorization: `Bearer ${OTHER_KEY}` })).toBe('cheap');
    expect(await w.ask()).toBe('dear');
  });

  it('the source of a prompt too short for any cache is not remembered', async () => {
    await using w = await world();
    w.dear.usage = { ...TOLD, prompt_tokens: MODEL_LIMITS.chat.promptCache.leastTokens - 1 };
    await w.moved();
    expect(await w.ask()).toBe('cheap');
  });
});
