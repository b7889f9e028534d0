import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundChat } from '../../../../src/models/chat/bound-chat.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { REALTIME_LIMITS } from '../../../../src/protocols/openai-realtime/limits.ts';
import { chatBody } from '../../../../src/voice/cascade/chat-body.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import type { ConversationItem } from '../../../../src/voice/session/conversation.ts';
import { DEFAULT_CONFIG } from '../../../../src/voice/session/session-config.ts';

const common = { status: 'completed' } as const;
const said = (text: string, role: 'user' | 'assistant' | 'system' = 'user'): ConversationItem => ({
  ...common,
  id: 'i',
  type: 'message',
  role,
  content: [{ type: 'text', text }],
});
const call = (id: string): ConversationItem => ({
  ...common,
  id,
  type: 'function_call',
  callId: id,
  name: 'f',
  arguments: '{}',
});
const output = (id: string): ConversationItem => ({
  ...common,
  id: `${id}o`,
  type: 'function_call_output',
  callId: id,
  output: id,
});
const SILENCE = { role: 'user', content: '(silence)' };
const bodyOf = (items: readonly ConversationItem[], config = DEFAULT_CONFIG) =>
  chatBody('acme/chat', { config, items, outputCap: 100 });

describe('the chat request of an answer', () => {
  it('a chat body puts each tool call right before its output, and drops a call or an output without its counterpart', () => {
    const items = [call('a'), call('lost'), said('wait'), output('a'), output('unknown')];
    expect(bodyOf(items).messages).toEqual([
      SILENCE,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'a' },
      { role: 'user', content: 'wait' },
    ]);
  });

  it("a chat body keeps the last tool outputs with their calls and the user's message, whatever their size", () => {
    const large = { ...output('a'), output: 'x'.repeat(MODEL_LIMITS.link.itemChars) } as const;
    const config = { ...DEFAULT_CONFIG, instructions: 'y'.repeat(MODEL_LIMITS.link.itemChars) };
    const items = [said('older'), said('asked'), call('a'), call('b'), output('b'), large];
    const { messages } = bodyOf(items as readonly ConversationItem[], config);
    expect(messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
    ]);
    expect(messages[1]).toMatchObject({ content: 'asked' });
    expect(messages.at(-2)).toMatchObject({ tool_call_id: 'a', content: large.output });
  });

  it('a chat body pairs an output with the latest call of its id when an upstream repeats an id', () => {
    const first = { ...output('a'), output: 'first' } as ConversationItem;
    const second = { ...output('a'), output: 'second' } as ConversationItem;
    const { messages } = bodyOf([call('a'), first, said('again'), call('a'), second]);
    expect(messages.map(({ content }) => content)).toEqual([
      '(silence)',
      null,
      'first',
      'again',
      null,
      'second',
    ]);
  });

  it('a chat body has the instructions, the tools, the tool choice and the output cap of the session', () => {
    const tool = { type: 'function', name: 'f', description: 'd', parameters: {} } as const;
    const config = {
      ...DEFAULT_CONFIG,
      instructions: 'Be kind.',
      tools: [tool],
      toolChoice: { type: 'function', name: 'f' } as const,
    };
    expect(bodyOf([said(' hello '), said('')], config)).toEqual({
      model: 'acme/chat',
      max_tokens: 100,
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'hello' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
    });
  });

  it('a chat body of a prompt to a silent caller ends with the notice of silence, after what was said before', () => {
    const items = [said('hello'), said('Hello!', 'assistant'), said('')];
    const asked = { config: DEFAULT_CONFIG, items, isPrompt: true, outputCap: 100 };
    expect(chatBody('acme/chat', asked).messages).toEqual([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'Hello!' },
      SILENCE,
    ]);
  });

  it('a chat body begins with the caller, and ends with the caller or a tool', () => {
    const greeted = [said('Good morning!', 'assistant')];
    const instructed = { ...DEFAULT_CONFIG, instructions: 'Greet him.' };
    const system = { role: 'system', content: 'Greet him.' };
    const greeting = { role: 'assistant', content: 'Good morning!' };
    expect(bodyOf([], instructed).messages).toEqual([system, SILENCE]);
    expect(bodyOf(greeted, instructed).messages).toEqual([system, SILENCE, greeting, SILENCE]);
    const asked = { role: 'user', content: 'hello' };
    const note = { role: 'system', content: 'He is in a hurry.' };
    const hurried = said('He is in a hurry.', 'system');
    expect(bodyOf([said('hello'), hurried]).messages).toEqual([asked, note]);
    expect(bodyOf([hurried, ...greeted, said('hello')]).messages).toEqual([
      note,
      SILENCE,
      greeting,
      asked,
    ]);
    expect(bodyOf([]).messages).toEqual([]);
  });

  it("a chat body has the caller's images, with the words beside them", () => {
    const url = 'data:image/png;base64,AAAA';
    const image = { type: 'image', url, detail: 'low' } as const;
    const shown = (...content: object[]) => ({ ...said(''), content }) as ConversationItem;
    const items = [shown(image), shown({ type: 'text', text: 'what is it?' }, image)];
    const part = { type: 'image_url', image_url: { url, detail: 'low' } };
    expect(bodyOf(items).messages.map(({ content }) => content)).toEqual([
      [part],
      [{ type: 'text', text: 'what is it?' }, part],
    ]);
    // An image is as large as its tokens usually are, whatever its bytes.
    const many = Array.from({ length: 60 }, () => shown(image));
    const kept = bodyOf(many).messages.length;
    expect(kept).toBeGreaterThan(10);
    expect(kept * MODEL_LIMITS.tokens.perOpaquePart).toBeLessThanOrEqual(
      VOICE_LIMITS.cascade.conversationBytes,
    );
  });

  it('a chat body keeps the conversation whole, however long the instructions and tools are', () => {
    const items = Array.from({ length: 20 }, (_, i) => said(`${i}${'x'.repeat(1_000)}`));
    const tools = [
      { type: 'function', name: 'f', description: 'd'.repeat(60_000), parameters: {} },
    ];
    const instructions = 'y'.repeat(REALTIME_LIMITS.instructionsChars);
    const config = { ...DEFAULT_CONFIG, instructions, tools } as typeof DEFAULT_CONFIG;
    expect(bodyOf(items, config).messages).toHaveLength(21);
  });

  it('a chat body keeps the newest items of a conversation within its bound, and the last item whatever its size', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 6_000 });
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 12 }), (texts) => {
        const words = texts.map((each) => `x${each}`);
        const body = bodyOf(words.map((each) => said(each)));
        expect(body.messages.at(-1)?.content).toBe(words.at(-1)?.trim());
        const model = { maxOutputTokens: null, sources: [] as unknown } as Parameters<
          typeof boundChat
        >[1];
        if (body.messages.length === 1) return;
        expect(boundChat(body, model).tokens.inputTokens).toBeLessThanOrEqual(
          VOICE_LIMITS.cascade.conversationBytes,
        );
      }),
      { numRuns: 50 },
    );
  });
});
