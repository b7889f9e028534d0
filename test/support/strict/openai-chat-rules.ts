import {
  objectionToEffort,
  objectionToList,
  objectionToName,
  objectionToParameters,
  objectionToSampling,
  objectionToStrict,
} from './openai-schema.ts';
import { firstOf, isObject, type Json, listOf, type Rule } from './rule.ts';

const SPEC = 'https://github.com/openai/openai-openapi (openapi.yaml)';
const GUIDES = 'https://developers.openai.com/api/docs/guides';
const HELLO: Json = { role: 'user', content: 'Hello' };
const ASKED = { model: 'gpt-4o', messages: [HELLO] };

const functionsOf = ({ tools }: Json): readonly Json[] =>
  listOf(tools).flatMap(({ function: named, type }) =>
    type === 'function' && isObject(named) ? [named] : [],
  );

const callsOf = ({ tool_calls: calls }: Json): readonly Json[] => listOf(calls);

const offering = (named: Json): Json => ({
  ...ASKED,
  tools: [{ type: 'function', function: named }],
});

const called = (id: string, name = 'look'): Json => ({
  role: 'assistant',
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
});

/** The longest id of a call. */
const ID_CHARS = 40;

/** Int64 as the schema of `seed` has it. */
const MOST = 2n ** 63n - 1n;

const formatOf = ({ response_format: format }: Json): Json => (isObject(format) ? format : {});

const namedSchema = (body: Json): Json | undefined => {
  const { json_schema: named } = formatOf(body);
  return isObject(named) ? named : undefined;
};

/** What every vendor of this dialect refuses that documents its chat: the list of messages makes sense. */
export const CHAT_ORDER: readonly Rule[] = [
  {
    source: `${SPEC} CreateChatCompletionRequest.messages (minItems 1)`,
    broken: { model: 'gpt-4o', messages: [] },
    objection: ({ body }) =>
      listOf(body.messages).length > 0 ? undefined : "Invalid 'messages': empty array.",
  },
  {
    source: `${SPEC} ChatCompletionRequestAssistantMessage.content (required unless tool_calls), ChatCompletionRequestUserMessageContent`,
    broken: { ...ASKED, messages: [{ role: 'user', content: null }] },
    objection: ({ body }) =>
      firstOf(listOf(body.messages), (message, at) => {
        const { content, role } = message;
        const isSaid =
          typeof content === 'string' || (Array.isArray(content) && content.length > 0);
        const mayBeSilent =
          role === 'assistant' && (callsOf(message).length > 0 || message.refusal);
        return isSaid || mayBeSilent
          ? undefined
          : `Invalid value for 'messages[${at}].content': expected a string or parts, got null.`;
      }),
  },
  {
    source: `${GUIDES}/function-calling (each call is answered before the conversation goes on)`,
    broken: { ...ASKED, messages: [HELLO, called('call_1'), HELLO] },
    objection({ body }) {
      let open = new Set<unknown>();
      const objection = firstOf(listOf(body.messages), (message, at) => {
        if (message.role === 'tool') {
          return open.delete(message.tool_call_id)
            ? undefined
            : `messages[${at}]: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`;
        }
        if (open.size > 0) return `messages[${at}]: tool_call_ids did not have response messages.`;
        open = new Set(callsOf(message).map(({ id }) => id));
        return open.size < callsOf(message).length
          ? `messages[${at}]: ids stand twice.`
          : undefined;
      });
      return (
        objection ?? (open.size > 0 ? 'tool_call_ids did not have response messages.' : undefined)
      );
    },
  },
];

/** What OpenAI's chat completions refuse. */
export const OPENAI_CHAT_RULES: readonly Rule[] = [
  ...CHAT_ORDER,
  {
    source: 'https://github.com/vercel/ai/issues/5171 (error of the vendor)',
    broken: {
      ...ASKED,
      messages: [
        HELLO,
        called('x'.repeat(41)),
        { role: 'tool', tool_call_id: 'x'.repeat(41), content: 'x' },
      ],
    },
    objection: ({ body }) =>
      listOf(body.messages)
        .flatMap(callsOf)
        .some(({ id }) => typeof id !== 'string' || id.length > ID_CHARS)
        ? `Invalid 'tool_calls[0].id': string too long. Expected a string with maximum length ${ID_CHARS}.`
        : undefined,
  },
  {
    source: `${SPEC} FunctionObject.name (64 characters)`,
    broken: offering({ name: 'x'.repeat(65) }),
    objection: ({ body }) =>
      firstOf(functionsOf(body), ({ name }, at) => {
        const why = objectionToName(name, 64);
        return why && `Invalid 'tools[${at}].function.name': ${why}`;
      }),
  },
  {
    source: `${SPEC} ChatCompletionMessageToolCall.function.name; https://community.openai.com (pattern of names in messages)`,
    broken: {
      ...ASKED,
      messages: [
        HELLO,
        called('call_1', 'files.read'),
        { role: 'tool', tool_call_id: 'call_1', content: 'x' },
      ],
    },
    objection: ({ body }) =>
      firstOf(listOf(body.messages).flatMap(callsOf), ({ function: one }) => {
        const why = isObject(one) ? objectionToName(one.name, 64) : undefined;
        return why && `Invalid 'messages.tool_calls.function.name': ${why}`;
      }),
  },
  {
    source: 'https://github.com/karakeep-app/karakeep/issues/1696 (error of the vendor)',
    broken: offering({ name: 'look', parameters: { type: 'object' } }),
    objection: ({ body }) => firstOf(functionsOf(body), objectionToParameters),
  },
  {
    source: `${SPEC} CreateChatCompletionRequest.tools, tool_choice, parallel_tool_calls (with tools alone)`,
    broken: { ...ASKED, tool_choice: 'auto' },
    objection({ body }) {
      const { parallel_tool_calls: parallel, tool_choice: choice, tools } = body;
      if (tools !== undefined) return objectionToList(tools);
      if (choice !== undefined) return "'tool_choice' is only allowed when 'tools' are specified.";
      return parallel === undefined
        ? undefined
        : "'parallel_tool_calls' is only allowed when 'tools' are specified.";
    },
  },
  {
    source: `${SPEC} StopConfiguration (up to 4 sequences)`,
    broken: { ...ASKED, stop: ['a', 'b', 'c', 'd', 'e'] },
    objection: ({ body: { stop } }) =>
      Array.isArray(stop) && stop.length > 4 ? "Invalid 'stop': array too long." : undefined,
  },
  {
    source: `${SPEC} CreateChatCompletionRequest.seed (int64)`,
    broken: { ...ASKED, seed: 1e19 },
    objection({ text }) {
      const seed = /"seed":(-?\d+)(?=[,}])/.exec(text)?.[1];
      const value = BigInt(seed ?? 0);
      return value > MOST || value < -MOST - 1n
        ? "Invalid 'seed': integer above maximum."
        : undefined;
    },
  },
  {
    source: `${GUIDES}/structured-outputs`,
    broken: {
      ...ASKED,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', strict: true, schema: { type: 'object', properties: {} } },
      },
    },
    objection({ body }) {
      const named = namedSchema(body);
      if (named === undefined) return undefined;
      const why =
        objectionToName(named.name, 64) ??
        (named.strict === true ? objectionToStrict(named.schema) : undefined);
      return why && `Invalid schema for response_format: ${why}`;
    },
  },
  {
    source: `${GUIDES}/structured-outputs (JSON mode)`,
    broken: { ...ASKED, response_format: { type: 'json_object' } },
    objection: ({ body }) =>
      formatOf(body).type === 'json_object' && !/json/i.test(JSON.stringify(body.messages))
        ? "'messages' must contain the word 'json' in some form."
        : undefined,
  },
  {
    source: `${GUIDES}/latest-model; https://github.com/BerriAI/litellm (function tools of GPT-5.6 and GPT-6)`,
    broken: { ...offering({ name: 'look' }), model: 'gpt-6-sol' },
    objection: ({ body: { model, reasoning_effort: effort, tools } }) =>
      listOf(tools).length > 0 && /^gpt-(5\.6|6)/.test(String(model)) && effort !== 'none'
        ? `Function tools with reasoning_effort are not supported for ${String(model)} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`
        : undefined,
  },
  {
    source: `${GUIDES}/latest-model (efforts)`,
    broken: { ...ASKED, model: 'gpt-6.1-sol', reasoning_effort: 'none' },
    objection: ({ body: { model, reasoning_effort: effort } }) => objectionToEffort(model, effort),
  },
  {
    source: `${GUIDES}/latest-model (parameter compatibility)`,
    broken: { ...ASKED, model: 'gpt-5.5', temperature: 0 },
    objection: ({ body }) => objectionToSampling(body, body.reasoning_effort),
  },
  {
    source: `${SPEC} CreateChatCompletionRequest.max_tokens (not compatible with models that think)`,
    broken: { ...ASKED, model: 'gpt-5.5', max_tokens: 16 },
    objection: ({ body: { max_tokens: cap, model } }) =>
      cap !== undefined && /^gpt-[56]/.test(String(model))
        ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        : undefined,
  },
  {
    source: `${SPEC} ChatCompletionStreamOptions (only set when stream is true)`,
    broken: { ...ASKED, stream_options: { include_usage: true } },
    objection: ({ body: { stream, stream_options: options } }) =>
      isObject(options) && stream !== true
        ? "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        : undefined,
  },
];
