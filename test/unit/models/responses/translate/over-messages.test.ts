import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../../src/kernel/json.ts';
import { messageUsage } from '../../../../../src/models/messages/from-chat/message-usage.ts';
import { translateAnswer } from '../../../../../src/models/providers/anthropic/translate-answer.ts';
import { translateRequest as toMessages } from '../../../../../src/models/providers/anthropic/translate-request.ts';
import type {
  InputItem,
  ResponsesRequest,
} from '../../../../../src/models/responses/responses-request.ts';
import { translateRequest as toChat } from '../../../../../src/models/responses/translate/translate-request.ts';
import { translateCompletion } from '../../../../../src/models/responses/translate/translated-response.ts';
import { BARE_HEAD } from '../../../../support/chat-answer.ts';

/** Texts that say something: blank ones are left out. */
const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() !== '');
const members = fc.dictionary(fc.constantFrom('city', 'days'), fc.jsonValue({ maxDepth: 2 }));

/** Calls of all kinds of tools, each with what stands for it in the Messages dialect. */
const called = fc.oneof(
  members.map((input) => ({
    item: { type: 'function_call', name: 'f', arguments: JSON.stringify(input) } as Json,
    use: { name: 'f', input: JSON.parse(JSON.stringify(input)) as Json },
  })),
  fc.string({ unit: 'grapheme' }).map((input) => ({
    item: { type: 'custom_tool_call', name: 'run', namespace: 'dev', input } as Json,
    use: { name: 'dev__run', input: { input } as Json },
  })),
);
const TOOLS = [
  { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } },
  { type: 'namespace', name: 'dev', tools: [{ type: 'custom', name: 'run' }] },
];
const OUTPUTS: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
};

const exchange = fc.record({
  asked: words,
  answered: fc.option(words),
  calls: fc.array(fc.record({ called, result: words }), { minLength: 1, maxLength: 3 }),
});
const request = (more: object = {}) => ({ model: 'm', tools: TOOLS, ...more }) as ResponsesRequest;

describe('a response over an upstream of the Messages dialect', () => {
  it('a Responses request sent to a Messages upstream keeps every text, call and result in order', () => {
    fc.assert(
      fc.property(fc.array(exchange, { minLength: 1, maxLength: 4 }), (exchanges) => {
        const items: InputItem[] = [];
        const turns: { role: string; content: Json[] }[] = [];
        for (const [at, { answered, asked, calls }] of exchanges.entries()) {
          const ids = calls.map((_, i) => `call_${at}_${i}`);
          items.push({ role: 'user', content: asked });
          if (answered !== null) items.push({ role: 'assistant', content: answered });
          for (const [i, { called: call }] of calls.entries()) {
            items.push({ ...call.item, call_id: ids[i] } as InputItem);
          }
          for (const [i, { called: call, result }] of calls.entries()) {
            const type = OUTPUTS[String(call.item.type)] ?? '';
            items.push({ type, call_id: ids[i], output: result });
          }
          const text = { type: 'text', text: asked };
          const last = turns.at(-1);
          if (last?.role === 'user') last.content.push(text);
          else turns.push({ role: 'user', content: [text] });
          const said = answered === null ? [] : [{ type: 'text', text: answered }];
          const uses = calls.map(({ called: { use } }, i) => ({
            type: 'tool_use',
            id: ids[i],
            ...use,
          }));
          turns.push({ role: 'assistant', content: [...said, ...uses] });
          const results = calls.map(({ result }, i) => ({
            type: 'tool_result',
            tool_use_id: ids[i],
            content: [{ type: 'text', text: result }],
          }));
          turns.push({ role: 'user', content: results });
        }
        const { chat, misfit } = toChat(request(), items);
        expect(misfit).toBeUndefined();
        const there = toMessages({ ...chat, max_tokens: 10 });
        expect(there.messages).toEqual(turns);
        expect(there.tools?.map(({ name }) => name)).toEqual(['f', 'dev__run']);
      }),
    );
  });

  it('a Messages upstream’s message becomes a response with its text, calls and usage', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.option(words),
        fc.array(called, { maxLength: 3 }),
        fc.record({ inputTokens: fc.nat(999), cachedTokens: fc.nat(99), outputTokens: fc.nat(99) }),
        async (text, calls, { cachedTokens, inputTokens: fresh, outputTokens }) => {
          const usage = { inputTokens: fresh + cachedTokens, cachedTokens, outputTokens };
          const message = {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [
              ...(text === null ? [] : [{ type: 'text', text }]),
              ...calls.map(({ use }, i) => ({ type: 'tool_use', id: `call_${i}`, ...use })),
            ],
            stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
            usage: messageUsage(usage),
          };
          const answer = translateAnswer(message, 1);
          const whole = await translateCompletion(
            {
              body: Buffer.from(JSON.stringify(answer?.completion)),
              answerChars: 0,
              usage,
              contentType: 'application/json',
            },
            {
              head: BARE_HEAD,
              model: 'm',
              newItemId: (prefix) => `${prefix}1`,
              names: toChat(request(), []).names,
              estimate: () => usage,
            },
          );
          const output = (whole?.response.output ?? []) as Json[];
          const told = output.filter(({ type }) => type !== 'message');
          expect(told.map(({ id: _, status: __, ...item }) => item)).toEqual(
            calls.map(({ item }, i) => ({ ...item, call_id: `call_${i}` })),
          );
          const said = output.find(({ type }) => type === 'message') as
            | { content: { text: string }[] }
            | undefined;
          expect(said?.content[0]?.text ?? '').toBe(text ?? '');
          expect(whole?.response.usage).toMatchObject({
            input_tokens: usage.inputTokens,
            input_tokens_details: { cached_tokens: cachedTokens },
            output_tokens: outputTokens,
          });
        },
      ),
    );
  });
});
