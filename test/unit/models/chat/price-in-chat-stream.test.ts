import { describe, expect, it } from 'vitest';
import { PriceInChatStream, withUsage } from '../../../../src/models/chat/price-in-chat-stream.ts';
import type { ChatStream } from '../../../../src/models/providers/chat-rail.ts';

const chunk = (more: object) => `data: ${JSON.stringify({ id: 'c1', ...more })}\n\n`;
const WORD = chunk({ choices: [{ delta: { content: '"usage":{"x":1}' } }], usage: null });
const USAGE = chunk({ choices: [], usage: { total_tokens: 3 } });

/** What is relayed of a stream of such pieces, and its last event. */
async function relayed(pieces: readonly string[]) {
  const waiting = [...pieces];
  const stream = new PriceInChatStream({
    next: async () => {
      const piece = waiting.shift();
      return piece === undefined ? undefined : Buffer.from(piece);
    },
    stop() {},
  } as ChatStream);
  let text = '';
  for (let piece = await stream.next(); piece; piece = await stream.next()) {
    text += Buffer.from(piece).toString('utf8');
  }
  return { text, last: Buffer.from(stream.last({ chargedRaw: 9n })).toString('utf8') };
}

describe('a stream with its price', () => {
  it('a chat stream ends with the upstream’s usage event, with the price added', async () => {
    for (const pieces of [[WORD, USAGE], [WORD + USAGE], [WORD, USAGE, WORD.slice(0, 0)]]) {
      const { last, text } = await relayed(pieces);
      expect(text).toBe(WORD);
      expect(last).toBe(chunk({ choices: [], usage: { total_tokens: 3, cost_raw: '9' } }));
    }
  });

  it('a chat stream without a usage event ends with an event of the price alone', async () => {
    const { last, text } = await relayed([WORD]);
    expect(text).toBe(WORD);
    expect(JSON.parse(last.slice(6))).toEqual({
      object: 'chat.completion.chunk',
      choices: [],
      usage: { cost_raw: '9' },
    });
    expect(last.endsWith('}\n\n')).toBe(true);
  });

  it('a chat stream repeats usage that came with other content in a last event with the price', async () => {
    const both = chunk({ choices: [{ delta: {} }], usage: { total_tokens: 4 } });
    const { last, text } = await relayed([WORD, both]);
    expect(text).toBe(WORD + both);
    expect(last).toBe(chunk({ choices: [], usage: { total_tokens: 4, cost_raw: '9' } }));
  });

  it('a streamed chat request includes usage, and keeps its other stream options', () => {
    const body = { model: 'm', messages: [], stream: true, stream_options: { odd: 1 } } as never;
    expect(withUsage(body)).toMatchObject({ stream_options: { odd: 1, include_usage: true } });
    expect(withUsage({ model: 'm', messages: [] } as never)).not.toHaveProperty('stream_options');
  });
});
