import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { StreamBroken } from '../../../../src/models/providers/openai/answer-reader.ts';
import { ChatPieces } from '../../../../src/voice/cascade/chat-pieces.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import {
  callEvent,
  chunkEvent,
  deltaEvent,
  finishEvent,
  textEvent,
} from '../../../support/stream-upstream.ts';

const CUT = finishEvent('length');
const LONG = ' '.repeat(MODEL_LIMITS.link.itemChars);
const push = (pieces: ChatPieces, text: string) => pieces.push(Buffer.from(text));

describe('ChatPieces', () => {
  it('ChatPieces returns words as they come, however many events a chunk has, and ignores other data', () => {
    const pieces = new ChatPieces();
    expect(push(pieces, textEvent('a') + deltaEvent({ role: 'assistant', content: '' }))).toEqual([
      { kind: 'text', text: 'a' },
    ]);
    expect(
      push(pieces, ': comment\n\ndata: not json\n\ndata: []\n\ndata: {"choices":[7]}\n\n'),
    ).toEqual([]);
    expect(pieces.end()).toEqual([]);
  });

  it('ChatPieces returns tool calls complete, in their order, under their own ids', () => {
    const pieces = new ChatPieces();
    const calls = (...tool_calls: object[]) => push(pieces, deltaEvent({ tool_calls }));
    calls({ index: 1, id: 'b', function: { name: 'second' } });
    calls({ index: 0, id: 'a', function: { name: 'first', arguments: '{"x"' } });
    calls(
      { index: 0, function: { arguments: ':1}' } },
      { index: 2, function: { arguments: '{}' } },
    );
    expect(pieces.end()).toEqual([
      { kind: 'call', name: 'first', argumentsJson: '{"x":1}', callId: 'a' },
      { kind: 'call', name: 'second', argumentsJson: '{}', callId: 'b' },
    ]);
  });

  it('ChatPieces reads a tool call without arguments as one with none', () => {
    const pieces = new ChatPieces();
    push(pieces, callEvent(0, { name: 'f' }) + finishEvent('tool_calls'));
    expect(pieces.end()).toEqual([{ kind: 'call', name: 'f', argumentsJson: '{}' }]);
    expect(pieces.cut).toBeUndefined();
  });

  it.each([
    ['of an answer that was cut', callEvent(1, { name: 'g', arguments: '{"a": 1' }) + CUT],
    ['that was cut before its arguments', callEvent(1, { name: 'g' }) + CUT],
    ['that ends in the middle', callEvent(1, { name: 'g', arguments: '{"a": 1' })],
    ['without a name', callEvent(1, { arguments: '{}' })],
    ['longer than an item', callEvent(1, { name: 'g', arguments: JSON.stringify(LONG) })],
    [
      'longer than an item, and whole before',
      callEvent(1, { name: 'g', arguments: '{}' }) + callEvent(1, { arguments: LONG }),
    ],
  ])('ChatPieces drops a tool call %s, and returns the complete call beside it', (_, events) => {
    const pieces = new ChatPieces();
    push(pieces, callEvent(0, { name: 'f', arguments: '{}' }) + events);
    expect(pieces.end()).toEqual([{ kind: 'call', name: 'f', argumentsJson: '{}' }]);
    expect(pieces.cut).toBe('max_output_tokens');
  });

  it.each([
    ['no JSON', '{"a": 1', /no whole JSON/],
    ['nested deeply', '['.repeat(5_000) + ']'.repeat(5_000), /too deeply/],
    ['longer than an item', JSON.stringify(LONG), /more than 65536 characters/],
  ])(
    'ChatPieces reports a tool call whose arguments are %s, with its name and its id',
    (_, given, problem) => {
      const pieces = new ChatPieces();
      const call = { index: 0, id: 'a', function: { name: 'f', arguments: given } };
      push(pieces, deltaEvent({ tool_calls: [call] }));
      expect(pieces.end()).toEqual([]);
      expect(pieces.broken).toEqual([
        { kind: 'broken', name: 'f', callId: 'a', problem: expect.stringMatching(problem) },
      ]);
    },
  );

  it('ChatPieces returns as many tool calls as a session may have tools, and nothing after them', () => {
    const pieces = new ChatPieces();
    const call = { name: 'f', arguments: '{}' };
    for (let i = 0; i < VOICE_LIMITS.realtime.tools; i++) push(pieces, callEvent(i, call));
    expect(pieces.isFull).toBe(false);
    expect(push(pieces, callEvent(VOICE_LIMITS.realtime.tools, call) + textEvent('more'))).toEqual(
      [],
    );
    expect(pieces.end()).toHaveLength(VOICE_LIMITS.realtime.tools);
    expect([pieces.isFull, pieces.cut]).toEqual([true, 'max_output_tokens']);
  });

  it('ChatPieces breaks off when the upstream reports an error, and not at an empty one', () => {
    const failed = (error: unknown) => chunkEvent([], { error });
    for (const event of [failed({ code: 502 }), failed('overloaded'), finishEvent('error')]) {
      expect(() => push(new ChatPieces(), event)).toThrow(StreamBroken);
    }
    expect(push(new ChatPieces(), failed(null) + textEvent('a'))).toHaveLength(1);
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
    ['stop', undefined],
  ])(
    'ChatPieces goes on reading after the finish reason %s, since the usage follows',
    (reason, cut) => {
      const pieces = new ChatPieces();
      push(pieces, finishEvent(reason));
      expect([pieces.isFull, pieces.cut]).toEqual([false, cut]);
    },
  );

  it('ChatPieces drops a tool call of a filtered answer, and still reports the filter as the reason of the cut', () => {
    const pieces = new ChatPieces();
    push(pieces, callEvent(0, { name: 'f', arguments: '{' }) + finishEvent('content_filter'));
    expect([pieces.end(), pieces.cut]).toEqual([[], 'content_filter']);
  });
});
