import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../../src/kernel/limits.ts';
import { ToolCallDeltas } from '../../../../../src/models/providers/anthropic/tool-call-deltas.ts';

const use = (id: string, input?: unknown) => ({ type: 'tool_use', id, name: 'f', input });
const begun = (index: number, id: string) => ({
  index,
  id,
  type: 'function',
  function: { name: 'f', arguments: '' },
});
const args = (index: number, text: string) => ({ index, function: { arguments: text } });

describe('the tool calls of a stream', () => {
  it('streamed Anthropic tool calls keep their numbers, however their blocks are numbered and interleaved', () => {
    const calls = new ToolCallDeltas();
    expect(calls.start(7, use('a'))).toEqual(begun(0, 'a'));
    expect(calls.start(3, use('b'))).toEqual(begun(1, 'b'));
    expect(calls.add(7, '{')).toEqual(args(0, '{'));
    expect(calls.add(3, '[')).toEqual(args(1, '['));
    expect(calls.stop(7)).toBeUndefined();
    expect(calls.start(7, use('c'))).toEqual(begun(2, 'c'));
  });

  it('finished Anthropic tool calls have arguments that can be parsed', () => {
    const calls = new ToolCallDeltas();
    calls.start(0, use('a'));
    expect(calls.add(0, '')).toBeUndefined();
    expect(calls.stop(0)).toEqual(args(0, '{}'));
    expect(calls.stop(0)).toBeUndefined();
    calls.start(1, use('b', { x: 1 }));
    expect(calls.stop(1)).toEqual(args(1, '{"x":1}'));
  });

  it('streamed Anthropic tool calls without id or name, with a used number or beyond the limit are ignored', () => {
    const calls = new ToolCallDeltas();
    expect(calls.start(0, { type: 'tool_use', id: 'a' })).toBeUndefined();
    expect(calls.start(0, { type: 'tool_use', name: 'f' })).toBeUndefined();
    expect(calls.add(0, '{')).toBeUndefined();
    for (let i = 0; i < LIMITS.toolCallsPerAnswer; i++) {
      expect(calls.start(i, use(`t${i}`))).toBeDefined();
      expect(calls.start(i, use('again'))).toBeUndefined();
      calls.stop(i);
    }
    expect(calls.start(0, use('more'))).toBeUndefined();
  });
});
