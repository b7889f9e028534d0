import { describe, expect, it } from 'vitest';
import { messageOf } from '../../support/anthropic-upstream.ts';
import { AGENT, anthropicWorld, MODEL } from '../../support/anthropic-world.ts';
import { begun, delta, messageEvent, STREAM, streamed } from '../../support/message-events.ts';

describe('a prompt of which a part is marked for a cache', () => {
  it('is kept by the upstream, and writing it costs what the upstream takes', async () => {
    await using w = await anthropicWorld();
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const marked = (text: string) => [{ type: 'text', text, cache_control }];
    const called = { name: 'now', parameters: { type: 'object' } };
    const usage = {
      ...{ input_tokens: 100, cache_read_input_tokens: 0, output_tokens: 10 },
      ...{ cache_creation_input_tokens: 400 },
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 400 },
    };
    const content = [{ type: 'text', text: 'Good.' }];
    const whole = { body: messageOf(content, { usage }) };
    const events = [
      messageEvent('message_start', { message: { ...begun, usage } }),
      ...[delta('Good.'), STREAM.at(-2) ?? '', STREAM.at(-1) ?? ''],
    ];
    w.upstream.replies.push(whole, streamed(events));
    const request = {
      messages: [
        { role: 'system', content: marked('Be brief.') },
        { role: 'user', content: marked('Good morning?') },
      ],
      tools: [{ type: 'function', function: called, cache_control }],
    };
    const { headers, json } = await w.chat(request);
    expect(w.upstream.seen[0]?.body).toMatchObject({
      system: marked('Be brief.'),
      messages: [{ role: 'user', content: marked('Good morning?') }],
      tools: [{ name: 'now', input_schema: { type: 'object' }, cache_control }],
    });
    expect(json).toMatchObject({
      usage: { prompt_tokens: 500, prompt_tokens_details: { cache_write_tokens: 400 } },
    });
    // (100 × 1 + 400 × 2 + 10 × 5) × 1.05, rounded up
    expect(headers.get('x-svc-cost-usdc')).toBe('998');
    const body = { model: MODEL, ...request, stream: true };
    await (await w.gateway.request('/chat/completions', { body })).text();
    await w.balanced();
    // The same prompt, and 400 tokens of output.
    expect(w.ledger.consumedRaw(AGENT)).toBe(998n + 3_045n);
  });
});
