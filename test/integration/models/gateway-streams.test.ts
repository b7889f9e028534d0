import type { ChatCompletionChunk } from 'openai/resources';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { createFakeLedger, type FakeLedger } from '../../support/fake-ledger.ts';
import { type GatewayWorld, gatewayWorld } from '../../support/gateway-world.ts';
import {
  DONE,
  type StreamUpstream,
  streamUpstream,
  textEvent,
  USAGE,
  usageEvent,
  wordEvents,
} from '../../support/stream-upstream.ts';

const AGENT = 1;
const FUNDS = 1_000_000_000n;
const MODEL = 'acme/fast-1';
const messages = [{ role: 'user' as const, content: 'Good morning?' }];
const WORDS = ['Good ', 'morning', ' to', ' you', '.'];
/** 1,200 tokens at 2.5 and 400 at 10, with five per cent. */
const METERED_RAW = 7_350n;

let upstream: StreamUpstream;
let second: StreamUpstream;
let ledger: FakeLedger;
let gateway: GatewayWorld;

beforeAll(async () => {
  upstream = await streamUpstream();
  second = await streamUpstream();
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});
beforeEach(async () => {
  ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  await gateway?.[Symbol.asyncDispose]();
  const source = (provider: string, dearer: string) =>
    ({
      rail: 'direct-account',
      provider,
      upstreamModel: 'vendor',
      rates: { text_input_token: `2.5${dearer}`, text_output_token: '10' },
    }) as const;
  gateway = await gatewayWorld({
    ledger,
    providers: {
      first: { baseUrl: upstream.baseUrl, dialect: 'openai' },
      second: { baseUrl: second.baseUrl, dialect: 'openai' },
    },
    models: [
      { id: MODEL, modality: 'text', sources: [source('first', ''), source('second', '1')] },
      { id: 'acme/alone', modality: 'text', sources: [source('first', '')] },
    ],
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

type Streamed = { readonly response: Response; readonly bytes: Buffer; readonly cut: boolean };

/** Asks for a stream and reads it to its end, whichever. */
async function stream(more: object = {}): Promise<Streamed> {
  const response = await gateway.request('/chat/completions', {
    body: { model: MODEL, messages, max_tokens: 4_000, stream: true, ...more },
    headers: { 'content-type': 'application/json' },
  });
  const chunks: Uint8Array[] = [];
  let cut = false;
  try {
    for await (const chunk of response.body ?? []) chunks.push(chunk);
  } catch {
    cut = true;
  }
  return { response, bytes: Buffer.concat(chunks), cut };
}

/** All that left the agent, and what still waits, once nothing is under way any more. */
async function books() {
  await expect.poll(() => ledger.openHolds()).toBe(0);
  const charged = ledger.charges.reduce((sum, { costRaw }) => sum + costRaw, 0n);
  expect(ledger.consumedRaw(AGENT)).toBe(charged);
  return charged;
}

const costOf = (bytes: Buffer): bigint =>
  BigInt(/^: svc-cost-usdc=(\d+)$/m.exec(bytes.toString('utf8'))?.[1] ?? '-1');

/** The stream as its upstream wrote it, with its own name of the model and without what was added at the end. */
/** Events as a client that did not ask for usage gets them. */
const unasked = (events: readonly string[]): string =>
  events.join('').replaceAll(',"usage":null', '');

const relayed = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .replace(/: svc-cost-usdc=\d+\n\ndata: \[DONE\]\n\n$/, '')
    .replaceAll(`"model":"${MODEL}"`, '"model":"vendor"');

describe('a streamed chat answer', () => {
  it('a streamed chat arrives byte for byte, with its price before the end and its headers before the first event', async () => {
    const events = wordEvents(WORDS);
    upstream.play({ pieces: [...events, usageEvent(), DONE] });
    const { response, bytes } = await stream();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-svc-model': MODEL,
      'x-svc-rail': 'direct-account',
      'x-svc-payment': 'gateway',
    });
    expect(relayed(bytes)).toBe(unasked(events));
    expect(bytes.toString()).not.toContain('"model":"vendor"');
    expect([costOf(bytes), await books()]).toEqual([METERED_RAW, METERED_RAW]);
  });

  it('a streamed chat always requests usage upstream, and relays the usage event only to a client that requested it', async () => {
    const events = wordEvents(WORDS);
    upstream.play({ pieces: [...events, usageEvent(), DONE] });
    const { bytes } = await stream({ stream_options: { include_usage: true, extra: 1 } });
    expect(upstream.seen.at(-1)).toMatchObject({
      model: 'vendor',
      stream: true,
      stream_options: { include_usage: true, extra: 1 },
    });
    expect(relayed(bytes)).toBe([...events, usageEvent()].join(''));
    await stream();
    expect(upstream.seen.at(-1)?.stream_options).toEqual({ include_usage: true });
  });

  it('a streamed chat has its price in the last event when requested, also for the OpenAI SDK', async () => {
    const events = wordEvents(WORDS);
    upstream.play({ pieces: [...events, usageEvent(), DONE] });
    const streamed = await gateway.openai.chat.completions.create({
      model: MODEL,
      messages,
      max_tokens: 4_000,
      stream: true,
      // @ts-expect-error A member of this server alone.
      usage: { include: true },
    });
    const usages: unknown[] = [];
    let words = '';
    for await (const { choices, usage } of streamed as AsyncIterable<ChatCompletionChunk>) {
      words += choices[0]?.delta.content ?? '';
      if (usage != null) usages.push(usage);
    }
    expect(words).toBe(WORDS.join(''));
    expect(usages).toEqual([{ ...USAGE, cost_raw: String(METERED_RAW) }]);
    expect(await books()).toBe(METERED_RAW);
  });

  it.each([
    ['one byte at a time', (text: string) => [...Buffer.from(text)].map((byte) => Buffer.of(byte))],
    ['in one piece', (text: string) => [text]],
    ['in pieces of seven', (text: string) => text.match(/[\s\S]{1,7}/g) ?? []],
  ])('a streamed chat is the same when it arrives %s', async (_, cut) => {
    const events = wordEvents(['Grüße ', '世界 ', '🎉', ' "usage":{"prompt_tokens":1} ', '\\"']);
    upstream.play({ pieces: cut([...events, usageEvent(), DONE].join('')) });
    const { bytes } = await stream();
    expect(relayed(bytes)).toBe(unasked(events));
    expect([costOf(bytes), await books()]).toEqual([METERED_RAW, METERED_RAW]);
  });

  it('a streamed chat may have CRLF, comments and unknown lines, none of which reaches the client', async () => {
    const odd = [': ping\n\n', 'event: x\r\nid: 7\r\n\r\n', 'data: not json\n\n', '\n'];
    const words = wordEvents(WORDS).map((event) => event.replaceAll('\n', '\r\n'));
    const named = words.map((event) => `event: message\r\n${event}`);
    const end = [usageEvent(), DONE].map((event) => event.replaceAll('\n', '\r\n'));
    upstream.play({ pieces: [...odd, ...words, ...named, ...end] });
    const { bytes } = await stream();
    expect(relayed(bytes)).toBe(
      unasked([':\n\n', 'data: not json\n\n', ...words, ...wordEvents(WORDS)]),
    );
    expect(await books()).toBe(METERED_RAW);
  });

  it('a streamed chat’s upstream cannot forge a price comment: the only price is the charge', async () => {
    const forged = ': svc-cost-usdc=0\n';
    const events = wordEvents(WORDS);
    upstream.play({
      pieces: [
        ...events.map((event) => `${forged}${event}`),
        `${forged}\n`,
        `data: {"choices":[]}\r${forged}\n`,
        usageEvent(),
        DONE,
      ],
    });
    const { bytes } = await stream();
    const prices = [...bytes.toString().matchAll(/svc-cost-usdc=(\d+)/g)].map(([, raw]) => raw);
    expect(prices).toEqual([String(METERED_RAW)]);
  });

  it('a streamed chat may have events of a megabyte, and ten thousand of them', async () => {
    const large = textEvent('x'.repeat(1_000_000));
    upstream.play({ pieces: [large, large, large, usageEvent(), DONE] });
    expect(relayed((await stream()).bytes)).toBe(unasked([large, large, large]));
    const many = Array.from({ length: 10_000 }, (_, i) => textEvent(`${i} `));
    upstream.play({ pieces: [...many, usageEvent(), DONE] });
    expect(relayed((await stream()).bytes)).toBe(unasked(many));
    expect(await books()).toBe(2n * METERED_RAW);
  });

  it('a streamed chat without [DONE] counts as complete when its usage was sent', async () => {
    upstream.play({ pieces: [...wordEvents(WORDS), usageEvent()] });
    const { bytes } = await stream();
    expect(bytes.toString()).toContain('[DONE]');
    expect(await books()).toBe(METERED_RAW);
  });

  it('a streamed chat without usage is charged by its text, and marked as estimated', async () => {
    const events = wordEvents(WORDS);
    upstream.play({ pieces: [...events, DONE] });
    const { bytes } = await stream();
    expect(relayed(bytes)).toBe(unasked(events));
    expect([costOf(bytes), ledger.charges[0]?.usage]).toEqual([
      await books(),
      // Twenty characters are five tokens.
      { text_input_token: expect.any(Number), text_output_token: 5, estimated: 1 },
    ]);
  });

  it.each([
    ['more than was held', { ...USAGE, completion_tokens: 100_000, total_tokens: 101_200 }],
    ['nonsense', { prompt_tokens: -1, completion_tokens: 'x' }],
    ['nothing', {}],
  ])(
    'a streamed chat whose usage is %s is charged once, and its hold is closed',
    async (_, usage) => {
      upstream.play({ pieces: [...wordEvents(WORDS), usageEvent(usage), DONE] });
      const { bytes } = await stream();
      expect(costOf(bytes)).toBe(await books());
      expect(ledger.charges).toHaveLength(1);
    },
  );
});

describe('an upstream that breaks', () => {
  it('a streamed chat that breaks after any event is relayed and charged so far, and ends with an error', async () => {
    const events = wordEvents(WORDS);
    for (let breaksAt = 1; breaksAt <= events.length; breaksAt++) {
      const before = ledger.consumedRaw(AGENT);
      upstream.play({ pieces: events.slice(0, breaksAt), ends: 'cut' });
      const { bytes, response } = await stream({ model: 'acme/alone' });
      const text = bytes.toString();
      expect(response.status).toBe(200);
      const came = unasked(events.slice(0, breaksAt));
      expect(text.replaceAll('"model":"acme/alone"', '"model":"vendor"')).toContain(came);
      expect(text).not.toContain('[DONE]');
      const last = text.trim().split('\n\n').at(-1) ?? '';
      expect(JSON.parse(last.slice('data: '.length))).toMatchObject({
        error: { type: 'upstream_error', code: 'upstream_broke_off' },
      });
      await books();
      expect(ledger.consumedRaw(AGENT) - before).toBeGreaterThan(0n);
      expect(ledger.charges.at(-1)).toMatchObject({ status: 'success', usage: { estimated: 1 } });
    }
  });

  it('a streamed chat that fails before its first event delivers nothing, and the next source is called', async () => {
    const events = wordEvents(WORDS);
    second.play({ pieces: [...events, usageEvent(), DONE] });
    for (const script of [
      { pieces: [], ends: 'cut' as const },
      { pieces: ['data: {"half'], ends: 'cut' as const },
      { pieces: [], status: 500 },
      { pieces: ['{}'], headers: { 'content-type': 'application/json' } },
    ]) {
      upstream.play(script);
      const { response, bytes } = await stream();
      expect(relayed(bytes)).toBe(unasked(events));
      expect(response.headers.get('x-svc-attempts')).toBe('2');
      // A source that fails again and again would rest.
      upstream.play({ pieces: [...events, usageEvent(), DONE] });
      expect((await stream()).response.headers.has('x-svc-attempts')).toBe(false);
    }
    await books();
  });

  it('a streamed chat that the upstream refuses gets the refusal relayed, and is not charged', async () => {
    const body = JSON.stringify({ error: { message: 'no', type: 'invalid_request_error' } });
    upstream.play({ status: 400, pieces: [body], headers: { 'content-type': 'application/json' } });
    const { response, bytes } = await stream();
    expect([response.status, bytes.toString()]).toEqual([400, body]);
    expect(response.headers.get('x-svc-payment')).toBe('passthrough');
    expect(await books()).toBe(0n);
  });

  it('a streamed chat with an oversized event is cut off', async () => {
    const huge = `data: ${'x'.repeat(MODEL_LIMITS.upstream.sseEventBytes + 1)}`;
    upstream.play({ pieces: [textEvent('a'), huge], ends: 'hang' });
    const { bytes } = await stream({ model: 'acme/alone' });
    expect(bytes.toString()).toContain('upstream_broke_off');
    await books();
    await expect.poll(() => upstream.abandoned.count).toBeGreaterThan(0);
  });
});

describe('a client that leaves a stream', () => {
  it('a client that leaves a streamed chat stops the upstream call at once, and pays for what arrived', async () => {
    const abandoned = upstream.abandoned.count;
    upstream.play({ pieces: wordEvents(WORDS), ends: 'hang' });
    const leaving = new AbortController();
    const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.openai.apiKey}` },
      body: JSON.stringify({ model: MODEL, messages, max_tokens: 4_000, stream: true }),
      signal: leaving.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await expect.poll(() => upstream.abandoned.count).toBe(abandoned + 1);
    expect(await books()).toBeGreaterThan(0n);
    expect(ledger.charges).toHaveLength(1);
  });

  it('a streamed chat that is refused gets its error before any event', async () => {
    await ledger.withdrawAll({ agentId: AGENT, reference: 'gone' });
    const { response, bytes } = await stream();
    expect(response.status).toBe(402);
    expect(JSON.parse(bytes.toString())).toMatchObject({ error: { code: 'budget_exhausted' } });
  });
});
