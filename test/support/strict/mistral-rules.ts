import { objectionToName } from './openai-schema.ts';
import { firstOf, isObject, type Json, listOf, type Rule } from './rule.ts';

const COMMON =
  'https://github.com/mistralai/mistral-common (src/mistral_common/protocol/instruct/validator.py)';
const HELLO: Json = { role: 'user', content: 'Hello' };
const ASKED = { model: 'mistral-large-2512', messages: [HELLO] };

/** Members of ChatCompletionRequest, by https://docs.mistral.ai/api. */
const MEMBERS = new Set([
  'model',
  'messages',
  'max_tokens',
  'stream',
  'stream_options',
  'stop',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'n',
  'random_seed',
  'presence_penalty',
  'frequency_penalty',
  'prediction',
  'prompt_mode',
  'safe_prompt',
  'metadata',
  'guardrails',
  'reasoning_effort',
  'prompt_cache_key',
]);

const MESSAGE_MEMBERS = new Set([
  'role',
  'content',
  'tool_calls',
  'tool_call_id',
  'name',
  'prefix',
]);

const FOLLOWERS: ReadonlyMap<unknown, readonly unknown[]> = new Map([
  ['system', ['user', 'assistant', 'system']],
  ['user', ['assistant', 'system', 'user']],
  ['assistant', ['assistant', 'user', 'tool']],
  ['tool', ['assistant', 'tool']],
]);

const callsOf = ({ tool_calls: calls }: Json): readonly Json[] => listOf(calls);

const called = (id: string, name = 'look'): Json => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
});
const answered = (tool_call_id: string): Json => ({ role: 'tool', tool_call_id, content: 'x' });

/** What Mistral's chat completions refuse. */
export const MISTRAL_RULES: readonly Rule[] = [
  {
    source: 'https://docs.mistral.ai/api (ChatCompletionRequest, no additional properties)',
    broken: { ...ASKED, user: 'x' },
    objection({ body }) {
      const odd = Object.keys(body).find((name) => !MEMBERS.has(name));
      return odd && `body.${odd}: Extra inputs are not permitted`;
    },
  },
  {
    source: 'https://docs.mistral.ai/api (messages, no additional properties)',
    broken: { ...ASKED, messages: [{ ...HELLO, reasoning_content: 'x' }] },
    objection: ({ body }) =>
      firstOf(listOf(body.messages), (message, at) => {
        const odd = Object.keys(message).find((name) => !MESSAGE_MEMBERS.has(name));
        return odd && `messages.${at}.${odd}: Extra inputs are not permitted`;
      }),
  },
  {
    source: 'https://docs.mistral.ai/api (temperature, 1.5 at most)',
    broken: { ...ASKED, temperature: 1.6 },
    objection: ({ body: { temperature: given } }) =>
      typeof given === 'number' && given > 1.5
        ? 'body.temperature: Input should be less than or equal to 1.5'
        : undefined,
  },
  {
    source: `${COMMON} _validate_function`,
    broken: { ...ASKED, tools: [{ type: 'function', function: { name: 'x'.repeat(65) } }] },
    objection: ({ body }) =>
      firstOf(
        [...listOf(body.tools), ...listOf(body.messages).flatMap(callsOf)],
        ({ function: one }) => {
          const why = isObject(one) ? objectionToName(one.name, 64) : undefined;
          return why && `Function name: ${why}`;
        },
      ),
  },
  {
    source: `${COMMON} MistralRequestValidatorV3; https://github.com/karthink/gptel/issues/1203`,
    broken: { ...ASKED, messages: [HELLO, called('call_12345'), answered('call_12345')] },
    objection: ({ body }) =>
      firstOf(listOf(body.messages), (message) => {
        const ids = callsOf(message).map(({ id }) => id);
        if (message.role === 'tool') ids.push(message.tool_call_id);
        const odd = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(String(id)));
        return odd === undefined
          ? undefined
          : `Tool call id was ${String(odd)} but must be a-z, A-Z, 0-9, with a length of 9.`;
      }),
  },
  {
    source: `${COMMON} _validate_message_order; https://github.com/aliou/pi-neuralwatt/issues/12`,
    broken: { ...ASKED, messages: [HELLO, called('callabcd1'), answered('callabcd1'), HELLO] },
    objection({ body }) {
      let before: unknown;
      return firstOf(listOf(body.messages), ({ role }) => {
        const isFit = before === undefined || FOLLOWERS.get(before)?.includes(role);
        const sentence = `Unexpected role '${String(role)}' after role '${String(before)}'`;
        before = role;
        return isFit ? undefined : sentence;
      });
    },
  },
  {
    source: `${COMMON} _validate_tool_calls_followed_by_tool_messages`,
    broken: { ...ASKED, messages: [HELLO, called('callabcd1')] },
    objection({ body }) {
      let open = 0;
      const said = 'Not the same number of function calls and responses';
      const objection = firstOf(listOf(body.messages), (message) => {
        if (message.role === 'tool') open--;
        if (message.role !== 'assistant') return undefined;
        if (open !== 0) return said;
        open = callsOf(message).length;
        return undefined;
      });
      return objection ?? (open === 0 ? undefined : said);
    },
  },
  {
    source: `${COMMON} _validate_last_message`,
    broken: { ...ASKED, messages: [HELLO, { role: 'assistant', content: 'It is' }] },
    objection({ body }) {
      const { prefix, role } = listOf(body.messages).at(-1) ?? {};
      return role === 'user' || role === 'tool' || prefix === true
        ? undefined
        : `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${String(role)}`;
    },
  },
  {
    source: `${COMMON} _validate_assistant_message`,
    broken: { ...ASKED, messages: [HELLO, { role: 'assistant', content: '' }, HELLO] },
    objection: ({ body }) =>
      firstOf(listOf(body.messages), (message) =>
        message.role === 'assistant' && !message.content && callsOf(message).length === 0
          ? 'Assistant message must have either content or tool_calls, but not none.'
          : undefined,
      ),
  },
];
