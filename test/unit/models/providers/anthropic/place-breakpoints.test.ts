import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../../src/kernel/json.ts';
import { placeBreakpoints } from '../../../../../src/models/providers/anthropic/place-breakpoints.ts';

const MARK = { cache_control: { type: 'ephemeral' } };
const LONG = 'x'.repeat(400);
/** A hundred tokens are four hundred characters. */
const at = { leastTokens: 100 };

const text = (value: string) => ({ type: 'text', text: value });
const tool = (name: string, more: Json = {}) => ({ name, description: LONG, ...more });
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });

const marksIn = (request: unknown): number =>
  JSON.stringify(request).split('"cache_control":{"type":"ephemeral"}').length - 1;

import { slowness, threadCpuMs } from '../../../../support/thread-cpu.ts';

describe('the breakpoints of a request', () => {
  it('cache breakpoints stand at the last tool, the instructions and the last two user messages', () => {
    const request = {
      tools: [tool('a'), tool('b')],
      system: 'Be brief.',
      messages: [
        user('one'),
        assistant('two'),
        user([text('three')]),
        assistant([{ type: 'tool_use', id: 'c', name: 'a', input: {} }]),
        user([{ type: 'tool_result', tool_use_id: 'c', content: 'four' }]),
      ],
    };
    expect(placeBreakpoints(request, at)).toEqual({
      tools: [tool('a'), { ...tool('b'), ...MARK }],
      system: [{ ...text('Be brief.'), ...MARK }],
      messages: [
        ...request.messages.slice(0, 2),
        user([{ ...text('three'), ...MARK }]),
        request.messages[3],
        user([{ type: 'tool_result', tool_use_id: 'c', content: 'four', ...MARK }]),
      ],
    });
  });

  it('cache breakpoints leave out the user message of a request with a single one', () => {
    const request = { system: [text(LONG)], messages: [user(LONG)] };
    expect(placeBreakpoints(request, at)).toEqual({
      system: [{ ...text(LONG), ...MARK }],
      messages: request.messages,
    });
  });

  it('cache breakpoints begin where the prefix has the minimum length of the cache', () => {
    const half = 'y'.repeat(200);
    const request = { system: half, messages: [user(half), assistant('z'), user('so?')] };
    const placed = placeBreakpoints(request, at);
    expect(placed.system).toBe(half);
    expect(marksIn(placed)).toBe(2);
    expect(placeBreakpoints({ system: half, messages: [user('so?')] }, at)).toEqual({
      system: half,
      messages: [user('so?')],
    });
  });

  it.each<[string, Json]>([
    ['the request', { ...MARK }],
    ['a tool', { tools: [tool('a', MARK), tool('b')] }],
    ['the instructions', { system: [{ ...text(LONG), ...MARK }] }],
    ['a message', { messages: [user([{ ...text('q'), ...MARK }])] }],
    [
      'the result of a tool',
      { messages: [user([{ type: 'tool_result', content: [{ ...text('q'), ...MARK }] }])] },
    ],
    [
      'a document',
      {
        messages: [
          user([
            { type: 'document', source: { type: 'content', content: [{ ...text('q'), ...MARK }] } },
          ]),
        ],
      },
    ],
  ])('a request whose caller set a cache breakpoint at %s gets no others', (_, more) => {
    const request = { system: LONG, messages: [user(LONG), assistant('a'), user('b')], ...more };
    expect(placeBreakpoints(request, at)).toBe(request);
  });

  it('a request without a caching preference gets no cache breakpoints', () => {
    const request = { system: LONG, messages: [user(LONG)] };
    expect(placeBreakpoints(request, undefined)).toBe(request);
  });

  it('cache breakpoints stand at no thought, empty text or deferred tool', () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 's' };
    const request = {
      tools: [tool('a'), tool('later', { defer_loading: true })],
      system: [text(LONG), text(' ')],
      messages: [user([text('q'), thought]), assistant([thought]), user([thought])],
    };
    expect(placeBreakpoints(request, at)).toEqual({
      tools: [{ ...tool('a'), ...MARK }, request.tools[1]],
      system: [{ ...text(LONG), ...MARK }, text(' ')],
      messages: [user([{ ...text('q'), ...MARK }, thought]), ...request.messages.slice(1)],
    });
  });

  it('cache breakpoints count an image by its token cost and not by the length of its data', () => {
    const image = { type: 'image', source: { type: 'base64', data: 'A'.repeat(100_000) } };
    const request = { messages: [user([image]), assistant('a'), user('b')] };
    expect(marksIn(placeBreakpoints(request, { leastTokens: 1_000 }))).toBe(2);
    expect(placeBreakpoints(request, { leastTokens: 4_096 })).toEqual(request);
  });

  it('a request gets at most four cache breakpoints and no other change', () => {
    const block = fc.oneof(
      fc.string().map(text),
      fc.constant({ type: 'thinking', thinking: LONG, signature: 's' }),
      fc.string().map((content) => ({ type: 'tool_result', tool_use_id: 'c', content })),
    );
    const turn = fc.record({
      role: fc.constantFrom('user', 'assistant'),
      content: fc.array(block),
    });
    const request = fc.record({
      tools: fc.array(fc.string().map((name) => tool(name))),
      system: fc.array(fc.string().map(text)),
      messages: fc.array(turn, { maxLength: 12 }),
    });
    fc.assert(
      fc.property(request, fc.nat(300), (asked, leastTokens) => {
        const placed = placeBreakpoints(asked, { leastTokens });
        expect(marksIn(placed)).toBeLessThanOrEqual(4);
        const bare = JSON.parse(JSON.stringify(placed), (key, value: unknown) =>
          key === 'cache_control' ? undefined : value,
        );
        expect(bare).toEqual(JSON.parse(JSON.stringify(asked)));
      }),
    );
  });

  it('placing cache breakpoints in ten thousand messages takes no long turn of the event loop', () => {
    const messages = Array.from({ length: 10_000 }, (_, i) =>
      (i % 2 === 0 ? user : assistant)([text('w'.repeat(400))]),
    );
    const request = { messages };
    const startedMs = threadCpuMs();
    placeBreakpoints(request, { leastTokens: 10_000_000 });
    expect(threadCpuMs() - startedMs).toBeLessThan(50 * slowness());
  });
});
