import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { anthropicWorld } from '../../support/anthropic-world.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { streamed as inEvents, STREAM } from '../../support/message-events.ts';
import { asked as message, messagesWorld } from '../../support/messages-world.ts';
import { CHAT_MODEL, OWN_MODEL, responsesWorld } from '../../support/responses-world.ts';
import {
  DONE,
  finishEvent,
  textEvent,
  usageEvent,
  wholeAnswer,
} from '../../support/stream-upstream.ts';

const usage = { include: true };
const PIECES = [textEvent('Good '), textEvent('morning.'), finishEvent('stop'), usageEvent(), DONE];

/** The data of the last event of a type. */
const lastOf = (text: string, type: string): { [member: string]: unknown } => {
  const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(
    ([, data = '']) => JSON.parse(data) as { type: string },
  );
  return { ...events.findLast((event) => event.type === type) };
};
const costIn = (text: string) => /^: svc-cost-usdc=(\d+)$/m.exec(text)?.[1];

describe.each([
  ['that is relayed', OWN_MODEL],
  ['that is put into chat', CHAT_MODEL],
])('the price of a response %s', (_, model) => {
  const body = { model, input: 'Good morning?' };

  it('a response has its price in usage only when requested, equal to the header and the ledger', async () => {
    await using w = await responsesWorld();
    w.chat.play(wholeAnswer({ content: 'Good morning.' }));
    const response = await w.send('POST', '/responses', { ...body, usage });
    const json = (await response.json()) as { usage: { cost_raw: string } };
    const costRaw = response.headers.get('x-svc-cost-usdc');
    expect(Number(costRaw)).toBeGreaterThan(0);
    expect(json.usage).toMatchObject({
      input_tokens: 1_200,
      output_tokens: 400,
      cost_raw: costRaw,
    });
    expect(await w.charged()).toBe(BigInt(costRaw ?? -1));
    const seen = model === OWN_MODEL ? w.own.seen[0]?.body : w.chat.seen[0];
    expect(seen).not.toHaveProperty('usage');
    for (const unwished of [{}, { usage: { include: false } }, { usage: null }]) {
      const plain = await w.send('POST', '/responses', { ...body, ...unwished });
      expect(await plain.text()).not.toContain('cost_raw');
    }
    const odd = await w.send('POST', '/responses', { ...body, usage: { include: 1 } });
    expect(odd.status).toBe(400);
  });

  it('a streamed response has its price in the usage of its last event, which the SDK still parses', async () => {
    await using w = await responsesWorld();
    w.chat.play({ pieces: PIECES });
    const response = await w.send('POST', '/responses', { ...body, usage, stream: true });
    const text = await response.text();
    const { response: ended } = lastOf(text, 'response.completed');
    expect(ended).toMatchObject({ usage: { output_tokens: 400, cost_raw: costIn(text) } });
    expect(await w.charged()).toBe(BigInt(costIn(text) ?? -1));
    const stream = w.gateway.openai.responses.stream({ ...body, ...({ usage } as object) });
    const final = await stream.finalResponse();
    expect(final.output_text).toBe('Good morning.');
    expect(final.usage).toMatchObject({ input_tokens: 1_200, cost_raw: costIn(text) });
  });
});

it('a response that breaks off has its price in its usage', async () => {
  await using w = await responsesWorld();
  w.chat.play({ pieces: PIECES.slice(0, 1), ends: 'cut' });
  const body = { model: CHAT_MODEL, input: 'Good morning?', stream: true, usage };
  const text = await (await w.send('POST', '/responses', body)).text();
  const { response } = lastOf(text, 'response.failed');
  expect(response).toMatchObject({ status: 'failed', usage: { cost_raw: costIn(text) } });
  expect(await w.charged()).toBe(BigInt(costIn(text) ?? -1));
});

describe('the price of a message', () => {
  it('a translated message has its price in usage, and in the last message_delta of its stream', async () => {
    await using w = await messagesWorld();
    w.upstream.play(wholeAnswer({ content: 'Good morning.' }));
    const whole = await w.gateway.request('/messages', { body: { ...message, usage } });
    expect(await whole.json()).toMatchObject({
      usage: { input_tokens: 1_200, cost_raw: whole.headers.get('x-svc-cost-usdc') },
    });
    expect(w.upstream.seen[0]).not.toHaveProperty('usage');
    w.upstream.play({ pieces: PIECES });
    const body = { ...message, usage, stream: true };
    const text = await (await w.gateway.request('/messages', { body })).text();
    expect(lastOf(text, 'message_delta')).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 400, cost_raw: costIn(text) },
    });
    expect(text.match(/^event: message_delta$/gm)).toHaveLength(1);
    expect(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
    await w.balanced();
    const final = await w.claude.messages
      .stream({ ...message, ...({ usage } as object) })
      .finalMessage();
    expect(final).toMatchObject({
      content: [{ text: 'Good morning.' }],
      usage: { output_tokens: 400 },
    });
    await w.balanced();
  });

  it('a relayed message has its price in usage, whole and streamed, equal to the ledger', async () => {
    await using w = await anthropicWorld();
    const asked = { model: 'acme/claude-1', max_tokens: 400, messages: message.messages };
    const usages = { input_tokens: 9, output_tokens: 8 };
    const first = STREAM[0]?.replace('1200', '9') ?? '';
    const end = STREAM.at(-2)?.replace('400', '8') ?? '';
    w.upstream.replies.push(
      { body: { type: 'message', role: 'assistant', content: [], usage: usages } },
      inEvents([first, ...STREAM.slice(1, -2), end, STREAM.at(-1) ?? '']),
    );
    const whole = await w.gateway.request('/messages', { body: { ...asked, usage } });
    const told = whole.headers.get('x-svc-cost-usdc');
    expect(await whole.json()).toMatchObject({ usage: { ...usages, cost_raw: told } });
    const body = { ...asked, usage, stream: true };
    const text = await (await w.gateway.request('/messages', { body })).text();
    expect(lastOf(text, 'message_delta')).toMatchObject({
      usage: { output_tokens: 8, cost_raw: costIn(text) },
    });
    await w.balanced();
    expect(w.ledger.consumedRaw(1)).toBe(BigInt(told ?? -1) + BigInt(costIn(text) ?? -1));
  });

  it('a message has no price in usage unless it was requested', async () => {
    await using w = await messagesWorld();
    w.upstream.play({ pieces: PIECES });
    const text = await (
      await w.gateway.request('/messages', { body: { ...message, stream: true } })
    ).text();
    expect(text).not.toContain('cost_raw');
    const claude = new Anthropic({
      apiKey: AGENT_KEY,
      baseURL: w.gateway.baseUrl.replace(/\/v1$/, ''),
    });
    await expect(
      claude.messages.create({ ...message, ...({ usage: { include: 'yes' } } as object) }),
    ).rejects.toMatchObject({ status: 400 });
  });
});
