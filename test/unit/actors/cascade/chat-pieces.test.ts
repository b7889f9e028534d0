import { describe, expect, it } from 'vitest';
import { ChatPieces } from '../../../../src/actors/cascade/chat-pieces.ts';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { chunkEvent, textEvent } from '../../../support/stream-upstream.ts';

const delta = (fields: object) => chunkEvent([{ index: 0, delta: fields, finish_reason: null }]);
const push = (pieces: ChatPieces, text: string) => pieces.push(Buffer.from(text));

describe('ChatPieces', () => {
  it('gives words as they come, however many events a chunk holds, and passes over what is none', () => {
    const pieces = new ChatPieces();
    expect(push(pieces, textEvent('a') + delta({ role: 'assistant', content: '' }))).toEqual([
      { kind: 'text', text: 'a' },
    ]);
    expect(
      push(pieces, ': comment\n\ndata: not json\n\ndata: []\n\ndata: {"choices":[7]}\n\n'),
    ).toEqual([]);
    expect(pieces.end()).toEqual([]);
  });

  it('gives calls whole, in their order, under their own ids', () => {
    const pieces = new ChatPieces();
    const calls = (...tool_calls: object[]) => push(pieces, delta({ tool_calls }));
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

  it('knows that an answer was cut, and bounds what a call may hold', () => {
    const pieces = new ChatPieces();
    push(pieces, chunkEvent([{ index: 0, delta: {}, finish_reason: 'length' }]));
    expect(pieces.isCut).toBe(true);
    for (let i = 0; i < 3; i++) {
      const given = { name: 'f', arguments: 'x'.repeat(LIMITS.realtimeItemChars) };
      push(pieces, delta({ tool_calls: [{ index: 0, function: given }] }));
    }
    const [call] = pieces.end();
    expect(call?.kind === 'call' && call.argumentsJson.length).toBe(LIMITS.realtimeItemChars);
  });
});
