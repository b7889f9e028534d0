import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatTap } from '../../../../../src/models/providers/openai/chat-tap.ts';
import {
  chunkEvent,
  DONE,
  textEvent,
  USAGE,
  usageEvent,
} from '../../../../support/stream-upstream.ts';

const TOKENS = { inputTokens: 1_200, cachedTokens: 0, outputTokens: 400 };

function look(wantsUsage: boolean, ...events: readonly string[]) {
  const tap = new ChatTap(wantsUsage);
  const fates = events.map((event) => tap.look(Buffer.from(event)));
  return { fates, usage: tap.usage, answerBytes: tap.answerBytes };
}

describe('a look at a chat stream', () => {
  it('the chat tap finds the usage, and keeps back its event unless the client requested usage', () => {
    const kept = look(false, textEvent('a'), usageEvent(), DONE);
    expect(kept).toMatchObject({ fates: ['relayed', 'kept', 'done'], usage: TOKENS });
    const wanted = look(true, textEvent('a'), usageEvent(), DONE);
    expect(wanted).toMatchObject({ fates: ['relayed', 'relayed', 'done'], usage: TOKENS });
  });

  it('the chat tap relays usage that comes with other content', () => {
    const both = chunkEvent([{ index: 0, delta: {}, finish_reason: 'stop' }], { usage: USAGE });
    expect(look(false, both)).toMatchObject({ fates: ['relayed'], usage: TOKENS });
  });

  it('the chat tap keeps the last valid usage', () => {
    const more = { ...USAGE, completion_tokens: 500, total_tokens: 1_700 };
    const seen = look(true, usageEvent(), usageEvent(more), usageEvent({ prompt_tokens: 'x' }));
    expect(seen.usage).toEqual({ ...TOKENS, outputTokens: 500 });
  });

  it('the chat tap ignores usage and end marks inside the model’s text', () => {
    const words = ['"usage":{"prompt_tokens":9,"completion_tokens":9}', '[DONE]', 'data: [DONE]'];
    for (const word of words) {
      expect(look(false, textEvent(word))).toMatchObject({ fates: ['relayed'], usage: null });
    }
  });

  it.each([
    'data: [DONE]\n\n',
    'data:[DONE]\n\n',
    'data: [DONE]\r\n\r\n',
    'id: 1\ndata: [DONE]\n\n',
  ])('the chat tap recognizes %j as the end of the stream', (event) =>
    expect(look(false, event).fates).toEqual(['done']),
  );

  it('the chat tap counts the escaped bytes of text, arguments and reasoning', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (content, reasoning) => {
        const delta = { content, reasoning_content: reasoning };
        const event = chunkEvent([{ index: 0, delta, finish_reason: null }]);
        const spelled = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;
        const bytes = spelled(content) + spelled(reasoning);
        expect(look(false, event).answerBytes).toBe(bytes);
        // As some write it: with space between a key and its value.
        const chunk: unknown = JSON.parse(event.slice('data: '.length));
        const spaced = JSON.stringify(chunk, null, 1).replace(/\n */g, ' ');
        expect(look(false, `data: ${spaced}\n\n`).answerBytes).toBe(bytes);
      }),
    );
    const call = { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] };
    expect(look(false, chunkEvent([{ index: 0, delta: call }])).answerBytes).toBe(9);
  });

  it('the chat tap counts the texts of content parts and of arguments that are an object', () => {
    const told = (delta: object, more: object = {}) =>
      look(false, chunkEvent([{ index: 0, delta, ...more }])).answerBytes;
    const said = { type: 'text', text: 'a "b" ]}' };
    const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
    expect(told({ content: [thought, said] })).toBe('a \\"b\\" ]}'.length + 'Hm.'.length);
    const given = { city: 'a}"]', days: [1, { of: '"content":"x"' }] };
    const calls = [{ index: 0, function: { name: 'f', arguments: given } }];
    expect(told({ content: null, tool_calls: calls })).toBe(JSON.stringify(given).length);
    expect(told({ content: null, refusal: 'No.' })).toBe(3);
    const odds = { logprobs: { content: [{ token: 'text', bytes: [1, 2], logprob: 0 }] } };
    expect(told({ content: 'text' }, odds)).toBe(4);
    // What stands in a value that is counted is not counted again.
    const nested = { content: 'abc', text: [{ reasoning: 'd' }], refusal: { arguments: 'e' } };
    const inner = [{ index: 0, function: { name: 'f', arguments: nested } }];
    expect(told({ content: 'ab', tool_calls: inner })).toBe(2 + JSON.stringify(nested).length);
    expect(
      told({ content: [{ type: 'refusal', refusal: 'No.' }, { content: [{ text: 'a' }] }] }),
    ).toBe(4);
    // What is cut off in the middle counts as far as it goes, and is read once.
    const cut = 'data: {"content":['.padEnd(1_000_000, '[');
    expect(look(false, cut, 'data: {"arguments":{"a":"b\n\n').answerBytes).toBeLessThan(20);
  });
});
