import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { buildCatalogue } from '../../../src/models/catalogue/build-catalogue.ts';
import type { Call } from '../../../src/phone/calls/call.ts';
import { createJudge } from '../../../src/phone/records/analysis/judge-by-model.ts';
import { createFakeLedger, type FakeLedger } from '../../support/fake-ledger.ts';
import { gatewayServices } from '../../support/gateway-services.ts';
import { type OpenAiUpstream, openAiUpstream } from '../../support/openai-upstream.ts';

const AGENT = 7;
const MODEL = 'acme/judge';
const HOSTED = { voiceMode: 'hosted', systemPrompt: 'Sell boats.', model: MODEL } as const;
const callWith = (voice: object, analysis: Call['options']['analysis'] = 'model') =>
  ({
    callId: 'CA1',
    agentId: AGENT,
    accountId: 'acct_000000000001',
    taskId: 'errand',
    keyId: null,
    keyRootId: null,
    taskValueBps: null,
    actionId: null,
    customerId: 'client',
    options: { voice, analysis },
  }) as unknown as Call;
const turn = (role: 'user' | 'assistant', content: string) => ({
  role,
  content,
  heard: null,
  latency: null,
  at: new Date(0),
});
const TURNS = [turn('assistant', 'Hello.'), turn('user', 'No boats, please.')];

let upstream: OpenAiUpstream;
let ledger: FakeLedger;
let gateway: ReturnType<typeof gatewayServices>;
beforeAll(async () => {
  upstream = await openAiUpstream();
});
beforeEach(async () => {
  await gateway?.[Symbol.asyncDispose]();
  ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_000_000n, reference: 'start' });
  const rates = { text_input_token: '2.5', text_output_token: '10' };
  const catalogue = buildCatalogue({
    providers: new Map([['up', { baseUrl: upstream.baseUrl, dialect: 'openai' }]]),
    models: [
      {
        id: MODEL,
        modality: 'text',
        sources: [{ rail: 'self-host', provider: 'up', upstreamModel: 'x', rates }],
      },
    ],
    secret: () => undefined,
  });
  gateway = gatewayServices({ catalogue, ledger });
  upstream.seen.length = 0;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const judge = (call = callWith(HOSTED), stopping = new AbortController().signal) =>
  createJudge({ chat: gateway.services.chat, clock: systemClock, model: MODEL, stopping })(
    call,
    TURNS,
  );

describe('a model that judges a call', () => {
  it('the model that judges a call gets its words and its purpose, and is paid by the agent under the tags of the call', async () => {
    upstream.content = '```json\n{"success": false, "sentiment": "negative", "reason": "No."}\n```';
    expect(await judge()).toEqual({
      success: false,
      sentiment: 'negative',
      structuredData: { method: 'model', model: MODEL, reason: 'No.' },
    });
    const [first] = upstream.seen;
    const sent = JSON.stringify(first?.body.messages);
    for (const told of ['Sell boats.', 'Agent: Hello.', 'Caller: No boats, please.']) {
      expect(sent).toContain(told);
    }
    expect(ledger.charges).toMatchObject([
      { status: 'success', model: MODEL, taskId: 'errand', customerId: 'client' },
    ]);
    expect(ledger.openHolds()).toBe(0);
    expect(ledger.consumedRaw(AGENT)).toBeGreaterThan(0n);
  });

  it('the model that judges a call fills the schema of the developer, in one request that is paid once', async () => {
    const schema = {
      type: 'object',
      properties: { wantsBoat: { type: 'boolean' } },
      required: ['wantsBoat'],
    };
    const verdict = '"success": false, "sentiment": null, "reason": "No."';
    upstream.content = `{${verdict}, "data": {"wantsBoat": false}}`;
    expect(await judge(callWith(HOSTED, { schema }))).toMatchObject({
      structuredData: { method: 'model', reason: 'No.', data: { wantsBoat: false } },
    });
    expect(JSON.stringify(upstream.seen[0]?.body.messages)).toContain('wantsBoat');
    for (const wrong of ['"yes"', '{"wantsBoat": "no"}', '{}']) {
      upstream.content = `{${verdict}, "data": ${wrong}}`;
      expect(await judge(callWith(HOSTED, { schema })), wrong).toBeUndefined();
    }
    expect(upstream.seen).toHaveLength(4);
    expect(ledger.charges).toHaveLength(4);
    expect(new Set(ledger.charges.map(({ taskId }) => taskId))).toEqual(new Set(['errand']));
  });

  it.each([
    'I think that it went well.',
    '{"success": "yes", "sentiment": null, "reason": ""}',
    '{"success": true, "sentiment": "jubilant", "reason": ""}',
    '{"success": true',
  ])(
    'the model that judges a call gives no verdict when it answers outside the schema: %s',
    async (content) => {
      upstream.content = content;
      expect(await judge()).toBeUndefined();
    },
  );

  it('the model that judges calls gets no request for a call that a webhook answered', async () => {
    expect(await judge(callWith({ ...HOSTED, voiceMode: 'webhook' }))).toBeUndefined();
    expect(upstream.seen).toEqual([]);
  });

  it('a stopping process neither waits for nor pays the model that judges a call, and an empty balance refuses it', async () => {
    upstream.faults.push({ kind: 'silence' });
    const stopping = new AbortController();
    const judged = judge(undefined, stopping.signal).catch((error: unknown) => error);
    await expect.poll(() => upstream.seen.length).toBe(1);
    stopping.abort();
    expect(await judged).toMatchObject({ status: 499 });
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([0, 0n]);
    ledger.refuse(AGENT, { reason: 'insufficient_balance', availableRaw: 0n, requiredRaw: 1n });
    await expect(judge()).rejects.toMatchObject({ status: 402 });
  });
});
