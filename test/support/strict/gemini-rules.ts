import { CHAT_ORDER } from './openai-chat-rules.ts';
import { firstOf, isObject, type Json, listOf, type Rule, schemasIn } from './rule.ts';

const HELLO: Json = { role: 'user', content: 'Hello' };
const ASKED = { model: 'gemini-3.5-flash', messages: [HELLO] };

/** Members that Google's OpenAI-compatible address takes (https://ai.google.dev/gemini-api/docs/openai). */
const MEMBERS = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'n',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'extra_body',
  'modalities',
  'audio',
  'logprobs',
  'top_logprobs',
]);

const textsOf = ({ content }: Json): readonly unknown[] =>
  typeof content === 'string' ? [content] : listOf(content).map(({ text }) => text);

/** What Google's OpenAI-compatible address refuses. */
export const GEMINI_RULES: readonly Rule[] = [
  ...CHAT_ORDER,
  {
    source: 'https://ai.google.dev/gemini-api/docs/openai (unknown names are refused)',
    broken: { ...ASKED, user: 'x' },
    objection({ body }) {
      const odd = Object.keys(body).find((name) => !MEMBERS.has(name));
      return odd && `Invalid JSON payload received. Unknown name "${odd}": Cannot find field.`;
    },
  },
  {
    source: 'https://github.com/kaitranntt/ccs/issues/25 (error of the vendor)',
    broken: { ...ASKED, tools: [{ type: 'function', function: { name: '1st' } }] },
    objection: ({ body }) =>
      firstOf(listOf(body.tools), ({ function: one }, at) =>
        isObject(one) && !/^[a-zA-Z_][\w.:-]{0,63}$/.test(String(one.name))
          ? `tools[0].function_declarations[${at}].name: [FIELD_INVALID] Invalid function name.`
          : undefined,
      ),
  },
  {
    source: 'https://ai.google.dev/api/caching#Schema (items of an array)',
    broken: {
      ...ASKED,
      tools: [{ type: 'function', function: { name: 'a', parameters: { type: 'array' } } }],
    },
    objection: ({ body }) =>
      firstOf(listOf(body.tools), ({ function: one }) =>
        [...schemasIn(isObject(one) ? one.parameters : undefined)].some(
          ({ items, type }) => type === 'array' && items === undefined,
        )
          ? 'GenerateContentRequest.tools[0].function_declarations[0].parameters.items: missing field.'
          : undefined,
      ),
  },
  {
    source: 'https://ai.google.dev/api/generate-content (contents, required)',
    broken: { ...ASKED, messages: [{ role: 'system', content: 'Be brief.' }] },
    objection: ({ body }) =>
      listOf(body.messages).some(({ role }) => role !== 'system' && role !== 'developer')
        ? undefined
        : 'GenerateContentRequest.contents: contents is not specified',
  },
  {
    source: 'https://ai.google.dev/api/caching#Part (data, required)',
    broken: { ...ASKED, messages: [{ role: 'user', content: '' }] },
    objection: ({ body }) =>
      listOf(body.messages).some((one) => one.role === 'user' && textsOf(one).includes(''))
        ? 'Unable to submit request because it must have a text parameter.'
        : undefined,
  },
  {
    source: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
    broken: {
      ...ASKED,
      model: 'gemini-3.5-flash',
      messages: [
        HELLO,
        {
          role: 'assistant',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'x' },
      ],
    },
    objection: ({ body }) =>
      firstOf(
        listOf(body.messages).flatMap((one) => listOf(one.tool_calls)),
        ({ function: one }) =>
          isObject(one) && !isJsonObject(String(one.arguments))
            ? 'Invalid value at contents.parts.function_call.args: not a Struct'
            : undefined,
      ),
  },
];

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
