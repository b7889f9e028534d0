import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GuideEngine, LocalEngines } from '../../../src/engines/engine.ts';
import { EngineBusy, EngineMissing } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { LOCAL_MODELS } from '../../../src/models/catalogue/builtin/local.ts';
import { createLocalGuideRail } from '../../../src/models/providers/local/local-guide.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { gatewayWorld } from '../../support/gateway-world.ts';

const AGENT = 1;
const model = 'local/guide';
const ask = (content: string) => [{ role: 'user' as const, content }];

let engines: LocalEngines;
beforeAll(() => {
  engines = createLocalEngines({ clock: systemClock, random: systemRandom, log: silentLog });
});
afterAll(() => engines[Symbol.asyncDispose]());

/** The guide behind the gateway, for an agent with one and a quarter dollars. */
async function world(guide: GuideEngine = engines.guide) {
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_250_000n, reference: 'start' });
  const localGuide = createLocalGuideRail({
    guide,
    clock: systemClock,
    random: systemRandom,
    async callerFacts(agentId) {
      const { spendableRaw, heldRaw } = (await ledger.funds(agentId)) ?? {
        spendableRaw: 0n,
        heldRaw: 0n,
      };
      return { agentName: 'scout', spendableRaw, heldRaw, spentRaw: ledger.consumedRaw(agentId) };
    },
  });
  const providers = { local: { baseUrl: null, dialect: 'local' } } as const;
  const gateway = await gatewayWorld({ ledger, providers, models: LOCAL_MODELS, localGuide });
  return { gateway, ledger, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

const broken = (error: Error): GuideEngine => ({
  reply: () => Promise.reject(error),
});

describe('local/guide through the gateway', () => {
  it('local/guide answers with the balance before the question, and charges what it used', async () => {
    await using w = await world();
    const { data, response } = await w.gateway.openai.chat.completions
      .create({ model, messages: ask('What is my balance?') })
      .withResponse();
    expect(data.choices[0]?.message.content).toMatch(/1\.25/);
    expect(data.usage?.total_tokens).toBeGreaterThan(0);
    const costRaw = BigInt(response.headers.get('x-svc-cost-usdc') ?? '0');
    expect(costRaw).toBeGreaterThan(0n);
    expect(costRaw).toBe(w.ledger.consumedRaw(AGENT));
    expect(response.headers.get('x-svc-rail')).toBe('self-host');
    expect(w.ledger.openHolds()).toBe(0);
  });

  it('local/guide calls the one tool that is clearly meant', async () => {
    await using w = await world();
    const { choices } = await w.gateway.openai.chat.completions.create({
      model,
      messages: ask('Please open the garage door.'),
      tools: [
        {
          type: 'function',
          function: { name: 'open_garage_door', description: 'Opens the garage door.' },
        },
      ],
    });
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'open_garage_door' } },
    ]);
  });

  it('local/guide names its missing package when it was pruned, at no cost', async () => {
    await using w = await world(broken(new EngineMissing('The package gpt-tokenizer is missing.')));
    const call = w.gateway.openai.chat.completions.create({ model, messages: ask('Hi') });
    expect(await call.catch((error: unknown) => error)).toMatchObject({
      status: 503,
      code: 'no_source_available',
      message: expect.stringContaining('gpt-tokenizer'),
    });
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    expect(w.ledger.openHolds()).toBe(0);
  });

  it('local/guide gives the seconds to wait when it is busy', async () => {
    await using w = await world(broken(new EngineBusy(2)));
    const body = { model, messages: ask('Hi') };
    const response = await w.gateway.request('/chat/completions', { body });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await response.json()).toMatchObject({ error: { code: 'engine_overloaded' } });
    expect(w.ledger.openHolds()).toBe(0);
  });
});
