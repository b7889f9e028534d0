import { describe, expect, it } from 'vitest';
import { PriceInMessageStream } from '../../../../src/models/messages/price-in-message-stream.ts';
import type { ChatStream } from '../../../../src/models/providers/chat-rail.ts';
import { delta, messageEvent } from '../../../support/message-events.ts';

const END = messageEvent('message_delta', {
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 3 },
});
const PRICE = { chargedRaw: 9n };

async function relayed(pieces: readonly (string | Error)[]) {
  const waiting = [...pieces];
  const stream = new PriceInMessageStream({
    next: async () => {
      const piece = waiting.shift();
      if (piece instanceof Error) throw piece;
      return piece === undefined ? undefined : Buffer.from(piece);
    },
    stop() {},
  } as ChatStream);
  let text = '';
  let broken: unknown;
  try {
    for (let piece = await stream.next(); piece; piece = await stream.next()) {
      text += Buffer.from(piece).toString('utf8');
    }
  } catch (error) {
    broken = error;
  }
  return { text, broken, last: Buffer.from(stream.last(PRICE)).toString('utf8') };
}

const priced = (more: object = {}) =>
  messageEvent('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 3, cost_raw: '9', ...more },
  });

describe('a Messages stream with its price', () => {
  it('a Messages stream ends with its message_delta and the price, however its bytes are cut', async () => {
    const words = delta('Good "message_delta" morning.');
    for (const pieces of [[words, END], [words + END], [...(words + END)]]) {
      const { last, text } = await relayed(pieces);
      expect([text, last]).toEqual([words, priced()]);
    }
  });

  it('a Messages stream has the price in its last message_delta and keeps the order of all other events', async () => {
    const first = messageEvent('message_delta', { delta: {}, usage: { output_tokens: 1 } });
    const { last, text } = await relayed([first, delta('a'), ': alive\n\n', END, ': alive\n\n']);
    expect(text).toBe(`${first}${delta('a')}: alive\n\n: alive\n\n`);
    expect(last).toBe(priced());
  });

  it('a Messages stream has the price even when pings or unknown events follow its message_delta', async () => {
    const [words, ping] = [delta('a'), messageEvent('ping', {})];
    for (const behind of [
      ping,
      messageEvent('unheard_of', {}),
      'data: [DONE]\n\n',
      'data: x\n\n',
    ]) {
      const { last, text } = await relayed([words, END, behind, ping]);
      expect([text, last]).toEqual([words + behind + ping, priced()]);
    }
  });

  it('a Messages stream that breaks relays what came before the break, without a price', async () => {
    const cut = new Error('cut');
    expect(await relayed([delta('a'), END, cut])).toEqual({
      text: delta('a') + END,
      broken: cut,
      last: '',
    });
    expect(await relayed([delta('a'), cut])).toMatchObject({ text: delta('a'), broken: cut });
  });

  it('a Messages stream whose message_delta has no usage gets a usage with the price alone', async () => {
    const { last } = await relayed([
      messageEvent('message_delta', { delta: { stop_reason: 'x' } }),
    ]);
    expect(last).toContain('"usage":{"cost_raw":"9"}');
  });
});
