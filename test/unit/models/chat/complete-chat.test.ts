import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import type { Random } from '../../../../src/kernel/random.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type { ChatRails } from '../../../../src/models/chat/chat-rails.ts';
import { createChatCompletions } from '../../../../src/models/chat/complete-chat.ts';
import { PromptHolders } from '../../../../src/models/chat/prompt-holders.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import type { ChatOutcome } from '../../../../src/models/providers/chat-rail.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { failed } from '../../../../src/models/providers/outcome.ts';
import type { Span } from '../../../../src/platform/tracing/span.ts';
import { aBuyer, noStoredKeys } from '../../../support/a-buyer.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { plainBudgets } from '../../../support/plain-budgets.ts';
import { RecordedSpan } from '../../../support/recorded-span.ts';

const AGENT = 7;
const FUNDS = 1_000_000n;
const RATES = { text_input_token: '2.5', text_output_token: '10' };

const completed = (more: object = {}): ChatOutcome => ({
  kind: 'completed',
  status: 200,
  body: Buffer.from('{}'),
  contentType: 'application/json',
  usage: { inputTokens: 1_200, cachedTokens: 0, outputTokens: 400 },
  answerChars: 0,
  ...more,
});

/** Two sources, `cheap` and `dear`, that do as told; an agent with one dollar. */
async function world(play: (provider: string) => ChatOutcome | Promise<ChatOutcome>) {
  const clock = new ManualClock();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const asked: string[] = [];
  const provider = { baseUrl: 'https://x.example', dialect: 'openai' } as const;
  const source = (id: string, rates: typeof RATES) =>
    ({ rail: 'direct-account', provider: id, upstreamModel: 'm', rates }) as const;
  const catalogue = buildCatalogue({
    providers: new Map([
      ['cheap', provider],
      ['dear', provider],
    ]),
    models: [
      {
        id: 'acme/fast-1',
        modality: 'text',
        sources: [
          source('dear', { text_input_token: '5', text_output_token: '20' }),
          source('cheap', RATES),
        ],
      },
      {
        id: 'acme/ears',
        modality: 'stt',
        sources: [{ ...source('cheap', RATES), rates: { audio_second: '100' } }],
      },
    ],
    secret: () => undefined,
  });
  const rails: ChatRails = {
    railOf: ({ provider: id }) => ({
      async complete() {
        asked.push(id);
        return play(id);
      },
      stream: () => Promise.reject(new Error('no test asks for a stream')),
    }),
    async [Symbol.asyncDispose]() {},
  };
  let serial = 0;
  const random: Random = {
    bytes: (length) => Buffer.from(String(serial++).padStart(length, '0')),
  };
  const breaker = createSourceRests({ clock });
  const budgets = plainBudgets();
  const deps = { catalogue, rails, breaker, ledger, budgets, clock, random, log: silentLog };
  const chat = createChatCompletions({
    ...deps,
    promptHolders: new PromptHolders(deps),
    providerKeys: noStoredKeys,
  });
  const ask = (more: object = {}, span?: Span) =>
    chat.complete({
      buyer: aBuyer({ agentId: AGENT, keyId: 3, taskId: 'errand' }, { span }),
      body: { model: 'acme/fast-1', messages: [{ role: 'user', content: 'x' }], ...more },
    });
  const refusal = async (more: object = {}) => {
    const thrown = await ask(more).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ApiError);
    return thrown as ApiError;
  };
  /** What must hold after any request: nothing is left held, and funds + consumed is what came in. */
  const balanced = async () => {
    const funds = await ledger.funds(AGENT);
    expect(ledger.openHolds()).toBe(0);
    expect(funds?.heldRaw).toBe(0n);
    expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
  };
  return { ask, asked, balanced, clock, ledger, refusal };
}

describe('a chat completion', () => {
  it('a chat completion is charged what the cheapest source metered, and leaves no open hold', async () => {
    const { ask, asked, balanced, ledger } = await world(() => completed());
    const { headers } = await ask({ max_tokens: 500 });
    expect(asked).toEqual(['cheap']);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'x-svc-cost-usdc': '7350',
      'x-svc-payment-amount': '0.007350',
      'x-svc-payment': 'gateway',
      'x-svc-model': 'acme/fast-1',
      'x-svc-rail': 'direct-account',
      'x-svc-budget-remaining-usdc': '0.992650',
    });
    expect(ledger.consumedRaw(AGENT)).toBe(7_350n);
    expect(ledger.charges).toEqual([
      expect.objectContaining({
        agentId: AGENT,
        keyId: 3,
        taskId: 'errand',
        targetUrl: 'gateway://cheap/m',
        targetHost: 'acme',
        status: 'success',
        costRaw: 7_350n,
        model: 'acme/fast-1',
        usage: { text_input_token: 1_200, text_output_token: 400 },
        responseStatusCode: 200,
      }),
    ]);
    await balanced();
  });

  it('a chat completion reads the response’s model name only for a recorded span', async () => {
    let notes = 0;
    const note = () => {
      notes += 1;
      return { model: 'm-2026' };
    };
    const { ask } = await world(() => completed({ note }));
    const span = new RecordedSpan('request');
    await ask({}, span);
    expect([span.children[0]?.attributes['gen_ai.response.model'], notes]).toEqual(['m-2026', 1]);
    const unsampled: Span = {
      headers: {},
      upstreamHeaders: undefined,
      isRecorded: false,
      event() {},
      child: () => unsampled,
      set() {},
      stop() {},
      end() {},
    };
    await ask({}, unsampled);
    expect(notes).toBe(1);
  });

  it('a chat completion falls back to the next source after a failure and is charged at that source alone', async () => {
    const { ask, asked, balanced, ledger } = await world((id) =>
      id === 'cheap' ? failed('broken', 'status 500', 500) : completed(),
    );
    const { headers } = await ask();
    expect(asked).toEqual(['cheap', 'dear']);
    expect(headers['x-svc-attempts']).toBe('2');
    expect(headers['x-svc-cost-usdc']).toBe('14700');
    expect(ledger.charges).toHaveLength(1);
    await balanced();
  });

  it('a chat completion relays an upstream’s refusal unchanged at no charge and calls no other source', async () => {
    const body = Buffer.from('{"error":{"message":"too long"}}');
    const { ask, asked, balanced, ledger } = await world(() => ({
      kind: 'declined',
      status: 400,
      body,
      contentType: 'application/json',
    }));
    const answer = await ask();
    expect(answer.status).toBe(400);
    expect(answer.body).toBe(body);
    expect(answer.headers).toMatchObject({
      'x-svc-payment': 'passthrough',
      'x-svc-cost-usdc': '0',
    });
    expect(asked).toEqual(['cheap']);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
    expect(ledger.charges[0]).toMatchObject({ status: 'failed', costRaw: 0n });
    await balanced();
  });

  it('a chat completion costs nothing when every source fails', async () => {
    const { balanced, ledger, refusal } = await world(() => failed('unreachable', 'ECONNREFUSED'));
    const { status, error, fields, headers } = await refusal();
    expect([status, error]).toEqual([502, 'all_sources_failed']);
    expect(fields).toMatchObject({ attempts: 2 });
    expect(headers['x-should-retry']).toBe('true');
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
    await balanced();
  });

  it('a chat completion costs nothing when the client leaves', async () => {
    const { balanced, ledger, refusal } = await world(() => ({ kind: 'aborted' }));
    expect((await refusal()).status).toBe(499);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
    await balanced();
  });

  it('a chat completion’s hold is released when the rail throws', async () => {
    const { ask, balanced } = await world(() => {
      throw new TypeError('a bug');
    });
    await expect(ask()).rejects.toThrow('a bug');
    await balanced();
  });

  it('a chat completion’s hold is released when the reported usage is not a number', async () => {
    const usage = { inputTokens: Number.NaN, cachedTokens: 0, outputTokens: 1 };
    const { ask, balanced, ledger } = await world(() => completed({ usage }));
    await expect(ask()).rejects.toThrow(RangeError);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
    await balanced();
  });

  it('a chat completion that the balance does not cover is refused before any source is called', async () => {
    const { asked, balanced, ledger, refusal } = await world(() => completed());
    // What is asked alone comes to more at both sources: no shorter answer helps.
    const messages = [{ role: 'user', content: 'x'.repeat(400_000) }];
    const { status, error, fields } = await refusal({ messages, max_tokens: 1 });
    expect([status, error]).toEqual([402, 'budget_exhausted']);
    // 400,008 tokens at 5 USD and one at 20 USD per million, with 5 %.
    expect(fields).toMatchObject({ available: '1000000', required: '2100063' });
    expect(asked).toEqual([]);
    expect(ledger.charges).toEqual([]);
    await balanced();
  });

  it('a chat completion calls only the sources whose price the balance covers', async () => {
    const { ask, asked, balanced } = await world((id) =>
      id === 'cheap' ? failed('broken', 'status 500', 500) : completed(),
    );
    const messages = [{ role: 'user' as const, content: 'x'.repeat(200_000) }];
    const thrown = await ask({ messages, max_tokens: 1 }).catch((error: unknown) => error);
    // Nothing is held for the other, so that it is not asked.
    expect([(thrown as ApiError).status, asked]).toEqual([502, ['cheap']]);
    await balanced();
  });

  it('a chat completion is refused for an agent or key that may not spend, with the code of the reason', async () => {
    const { asked, ledger, refusal } = await world(() => completed());
    const cases = [
      ['agent_suspended', 403, 'agent_suspended'],
      ['agent_closed', 403, 'account_closed'],
      ['delegation_expired', 403, 'delegation_expired'],
      ['key_revoked', 401, 'Invalid API key'],
    ] as const;
    for (const [reason, status, error] of cases) {
      ledger.refuse(AGENT, { reason });
      expect(await refusal()).toMatchObject({ status, error });
    }
    expect(asked).toEqual([]);
  });

  it('a chat completion finds a model by its bare name and refuses one that is unknown or no chat model', async () => {
    const { ask, asked, refusal } = await world(() => completed());
    const unknown = await refusal({ model: 'acme/none' });
    expect(unknown).toMatchObject({ status: 404, error: 'model_not_found' });
    const deaf = await refusal({ model: 'acme/ears' });
    expect(deaf).toMatchObject({
      status: 400,
      error: 'invalid_request',
      fields: { param: 'model' },
    });
    expect(asked).toEqual([]);
    expect((await ask({ model: 'fast-1' })).headers['x-svc-model']).toBe('acme/fast-1');
  });

  it('a chat completion’s usage is estimated and marked so when the upstream reports none', async () => {
    const { ask, ledger } = await world(() => completed({ usage: null, answerChars: 4_000 }));
    await ask();
    expect(ledger.charges[0]?.usage).toEqual({
      text_input_token: 1,
      text_output_token: 1_000,
      estimated: 1,
    });
  });

  it('a source that reports far more usage than requested is charged up to the cap and backs off', async () => {
    const usage = { inputTokens: 8, cachedTokens: 0, outputTokens: 1_000_000 };
    const { ask, asked, balanced, clock, ledger } = await world((id) =>
      id === 'cheap' ? completed({ usage }) : completed(),
    );
    const { headers } = await ask({ max_tokens: 50 });
    expect(headers['x-svc-cost-usdc']).toBe('546');
    expect(ledger.charges).toMatchObject([{ usage: { text_output_token: 50 } }]);
    expect(ledger.shortfalls.get('shortfall:cheap')).toBe(10_499_475n);
    await ask();
    expect(asked).toEqual(['cheap', 'dear']);
    clock.advance(MODEL_LIMITS.upstream.restMs.max);
    await ask();
    expect(asked).toEqual(['cheap', 'dear', 'cheap']);
    await balanced();
  });

  it('a source that reports slightly more usage than requested is charged up to the cap and does not back off', async () => {
    const usage = { inputTokens: 8, cachedTokens: 0, outputTokens: 60 };
    const { ask, asked, ledger } = await world(() => completed({ usage }));
    const { headers } = await ask({ max_tokens: 50 });
    expect(headers['x-svc-cost-usdc']).toBe('546');
    expect(ledger.shortfalls.get('shortfall:cheap')).toBe(105n);
    await ask();
    expect(asked).toEqual(['cheap', 'cheap']);
  });

  it('a source that keeps failing is not called until its backoff is over', async () => {
    let healthy = false;
    const { ask, asked, clock, refusal } = await world(() =>
      healthy ? completed() : failed('timeout', 'slow'),
    );
    for (let i = 0; i < 3; i++) await refusal();
    asked.length = 0;
    expect((await refusal()).error).toBe('no_source_available');
    expect(asked).toEqual([]);
    healthy = true;
    clock.advance(1_000);
    await ask();
    expect(asked).toEqual(['cheap']);
  });

  it('a source does not back off after requests that were too large', async () => {
    const { asked, refusal } = await world(() => failed('oversize', 'too large'));
    for (let i = 0; i < 10; i++) await refusal();
    expect(asked).toHaveLength(20);
  });

  it('a chat completion records the upstream’s time apart from its own', async () => {
    const { ask, clock, ledger } = await world(async () => {
      clock.advance(250);
      return completed();
    });
    const { upstreamMs } = await ask();
    expect(upstreamMs).toBe(250);
    expect(ledger.charges[0]).toMatchObject({ upstreamMs: 250, overheadMs: 0, latencyMs: 250 });
  });
});
