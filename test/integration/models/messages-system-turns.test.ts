import { describe, expect, it } from 'vitest';
import { anthropicWorld, MODEL } from '../../support/anthropic-world.ts';
import { messagesWorld } from '../../support/messages-world.ts';
import { wholeAnswer } from '../../support/stream-upstream.ts';

const tool = (name: string) => ({ name, input_schema: { type: 'object' } });
const referred = (name: string) => ({ type: 'tool_reference', name });

/** A conversation whose effort and tools change on the way, in the shapes of Anthropic's SDK. */
const BODY = {
  max_tokens: 1_000,
  tools: [tool('read'), tool('write')],
  messages: [
    { role: 'user', content: 'Good morning?' },
    {
      role: 'system',
      content: [
        { type: 'tool_addition', tool: referred('read') },
        { type: 'tool_removal', tool: referred('write') },
      ],
    },
    { role: 'assistant', content: 'Good morning.' },
    { role: 'system', output_config: { effort: 'low' } },
    { role: 'user', content: 'So?' },
  ],
};

describe('turns of the system that change the effort and the tools', () => {
  it('system turns that change effort and tools are relayed unchanged to a Messages upstream, and counted there', async () => {
    await using w = await anthropicWorld();
    const sent = { ...BODY, model: MODEL };
    const response = await w.gateway.request('/messages', { body: sent });
    expect([response.status, w.upstream.seen.at(-1)?.body]).toEqual([
      200,
      { ...BODY, model: 'claude-model' },
    ]);
    const { max_tokens: _, ...counted } = sent;
    const count = await w.gateway.request('/messages/count_tokens', { body: counted });
    expect(count.headers.get('x-svc-token-count')).toBe('provider');
    expect(w.upstream.seen.at(-1)?.body.messages).toEqual(BODY.messages);
    await w.balanced();
  });

  it('system turns are left out for a chat upstream, which gets the tools that remain after them', async () => {
    await using w = await messagesWorld();
    w.upstream.play(wholeAnswer({ content: 'So.' }));
    const sent = { ...BODY, model: 'acme/fast-1' };
    expect((await w.gateway.request('/messages', { body: sent })).status).toBe(200);
    expect(w.upstream.seen.at(-1)).toMatchObject({
      messages: BODY.messages.filter(({ role }) => role !== 'system'),
      tools: [{ type: 'function', function: { name: 'read' } }],
    });
    await w.balanced();
  });
});
