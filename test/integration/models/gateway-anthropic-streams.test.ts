import { describe, expect, it } from 'vitest';
import { AGENT, anthropicWorld, MODEL, messages } from '../../support/anthropic-world.ts';
import { messageEvent, STREAM, streamed } from '../../support/message-events.ts';

describe('a stream of the Messages dialect', () => {
  it('a Messages stream is translated to OpenAI chunks, and charged by its reported usage', async () => {
    await using w = await anthropicWorld();
    w.upstream.replies.push(streamed(STREAM));
    const runner = w.gateway.openai.chat.completions.stream({
      model: MODEL,
      messages,
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await runner.finalChatCompletion();
    expect(choices).toMatchObject([
      { message: { content: 'Good morning.' }, finish_reason: 'stop' },
    ]);
    expect(usage).toMatchObject({ prompt_tokens: 1_200, completion_tokens: 400 });
    expect(w.upstream.seen[0]?.body).toMatchObject({ stream: true });
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(3_360n);
  });

  it('a Messages stream that breaks off is charged for its input and its output so far, and ends with an error', async () => {
    await using w = await anthropicWorld();
    const overloaded = messageEvent('error', { error: { type: 'overloaded_error', message: 'x' } });
    w.upstream.replies.push(streamed([...STREAM.slice(0, 5), overloaded]));
    const response = await w.gateway.request('/chat/completions', {
      body: { model: MODEL, messages, stream: true },
    });
    const text = await response.text();
    expect(text).toContain('"content":"morning."');
    expect(text).toContain('upstream_broke_off');
    expect(text).not.toContain('[DONE]');
    await w.balanced();
    // 1,200 tokens of input and four of output, with 5 %, rounded up.
    expect(w.ledger.consumedRaw(AGENT)).toBe(1_281n);
  });

  it('a Messages stream that fails before its beginning is not paid, and the next source is called', async () => {
    await using w = await anthropicWorld();
    const overloaded = messageEvent('error', { error: { type: 'overloaded_error', message: 'x' } });
    w.upstream.replies.push(streamed([overloaded]));
    const response = await w.gateway.request('/chat/completions', {
      body: { model: 'acme/spared', messages, stream: true },
    });
    // The peer there does not stream.
    expect(response.status).toBe(502);
    expect(w.spare.seen).toHaveLength(1);
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
  });

  it('a Messages stream that begins with a request error is relayed as the vendor’s refusal, in chat and Messages', async () => {
    await using w = await anthropicWorld();
    const error = { type: 'invalid_request_error', message: 'prompt is too long' };
    for (const path of ['/chat/completions', '/messages']) {
      w.upstream.replies.push(streamed([messageEvent('error', { error })]));
      const body = { model: MODEL, max_tokens: 100, messages, stream: true };
      const response = await w.gateway.request(path, { body });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error });
    }
    expect(w.upstream.seen).toHaveLength(2);
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
  });
});
