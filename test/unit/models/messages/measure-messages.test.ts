import { describe, expect, it } from 'vitest';
import type { Model } from '../../../../src/models/catalogue/catalogue.ts';
import { boundChat } from '../../../../src/models/chat/bound-chat.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { measureMessages } from '../../../../src/models/messages/measure-messages.ts';
import { MessagesRequest } from '../../../../src/models/messages/messages-request.ts';

const MODEL: Model = {
  id: 'a/b',
  modality: 'text',
  contextWindow: null,
  maxOutputTokens: null,
  sources: [],
};
const { perImage: PICTURE, perMessage: AROUND, ofPreamble: PREAMBLE } = MODEL_LIMITS.tokens;

/** The tokens that a prompt is held for, without those around its messages. */
const held = (content: unknown, more: object = {}) => {
  const request = MessagesRequest.parse({
    model: 'a/b',
    max_tokens: 10,
    messages: [{ role: 'user', content }],
    ...more,
  });
  const measured = measureMessages(request);
  return boundChat(measured, MODEL).tokens.inputTokens - measured.messages.length * AROUND;
};
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more });
const file = (source: object, more: object = {}) => ({ type: 'document', source, ...more });

describe('what is held for a Messages request', () => {
  it('the hold for a Messages request has one token per byte of its texts, wherever they stand', () => {
    expect(held('hello')).toBe(5);
    expect(held([text('hello'), text('世界')])).toBe(11);
    expect(held('hello', { system: 'be kind' })).toBe(12);
    expect(held('hello', { system: [text('be'), text('kind')] })).toBe(11);
    const result = { type: 'tool_result', tool_use_id: 't', content: [text('x'.repeat(500))] };
    expect(held([result])).toBeGreaterThan(500);
    expect(held([result])).toBeLessThan(600);
    const use = { type: 'tool_use', id: 't', name: 'n', input: { word: 'x'.repeat(500) } };
    expect(held([use])).toBeGreaterThan(JSON.stringify(use).length);
    expect(held([use])).toBeLessThan(700);
    expect(held([{ type: 'thinking', thinking: 'x'.repeat(500), signature: 's' }])).toBeGreaterThan(
      500,
    );
  });

  it('the hold for a Messages request has the most that an image can cost, and one token per byte of a file', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'x'.repeat(100_000) };
    expect(held([{ type: 'image', source }])).toBe(PICTURE);
    const result = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] };
    expect(held([result])).toBeLessThan(PICTURE + 100);
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'x'.repeat(1_000) };
    expect(held([file(pdf)])).toBeGreaterThanOrEqual(PICTURE + 1_000);
    expect(held([file({ type: 'text', data: 'x'.repeat(1_000) })])).toBeGreaterThanOrEqual(1_000);
    const inFile = (content: unknown) => held([file({ type: 'content', content })]);
    expect(inFile([text('abc')])).toBeGreaterThanOrEqual(3);
    expect(inFile('x'.repeat(500))).toBeGreaterThanOrEqual(500);
    const seen = { type: 'image', source: { type: 'url', url: 'https://x.example' } };
    expect(inFile([seen, seen])).toBeGreaterThanOrEqual(2 * PICTURE);
    expect(inFile([file({ type: 'content', content: [seen] })])).toBeGreaterThanOrEqual(PICTURE);
    expect(held([file({ type: 'url', url: 'https://x.example' })])).toBeGreaterThanOrEqual(PICTURE);
  });

  it('the hold for a Messages request covers tools, the vendor’s built-in tools and a schema', () => {
    const tool = { name: 'weather', input_schema: { type: 'object' } };
    const sent = [{ type: 'function', function: tool }];
    expect(held('', { tools: [tool] })).toBe(JSON.stringify(sent).length + PREAMBLE);
    const bash = { type: 'bash_20250124', name: 'bash' };
    expect(held('', { tools: [bash] })).toBe(JSON.stringify([bash]).length + PREAMBLE + PICTURE);
    const added = (definition: object) => ({
      type: 'tool_addition',
      tool: { type: 'tool_definition', definition },
    });
    expect(held([added(tool)])).toBe(JSON.stringify(added(tool)).length);
    expect(held([added(bash)])).toBe(JSON.stringify(added(bash)).length + PICTURE);
    const summary = { type: 'compaction', content: 'x', tool_changes: [added(bash), added(bash)] };
    expect(held([summary])).toBe(JSON.stringify(summary).length + 2 * PICTURE);
    const format = { type: 'json_schema', schema: {} };
    const least = JSON.stringify(format).length + PREAMBLE;
    expect(held('', { output_config: { format } })).toBeGreaterThanOrEqual(least);
    expect(held('', { output_format: format })).toBeGreaterThanOrEqual(least);
  });

  it('the hold for a Messages request doubles when a part is marked for caching', () => {
    const cache_control = { type: 'ephemeral' };
    const tool = { name: 'a', input_schema: {}, cache_control };
    expect(held([text('hello', { cache_control })])).toBe(2 * (5 + AROUND) - AROUND);
    expect(held('hello', { cache_control })).toBeGreaterThanOrEqual(10);
    expect(held('hello', { tools: [tool] })).toBeGreaterThan(2 * PREAMBLE);
    expect(held([{ type: 'tool_result', tool_use_id: 't', cache_control }])).toBeGreaterThan(60);
  });
});
