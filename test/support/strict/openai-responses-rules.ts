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
const ASKED = { model: 'gpt-5.4', input: 'Hello' };

/** Members of CreateResponse. */
const MEMBERS = new Set([
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'store',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'temperature',
  'top_p',
  'include',
  'metadata',
  'previous_response_id',
  'conversation',
  'background',
  'truncation',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
  'prompt',
  'prompt_cache_options',
  'stream_options',
  'top_logprobs',
  'context_management',
  'client_metadata',
  'moderation',
]);

const itemsOf = ({ input }: Json): readonly Json[] => listOf(input);
const functionsOf = ({ tools }: Json) => listOf(tools).filter(({ type }) => type === 'function');
const effortOf = ({ reasoning }: Json): unknown =>
  isObject(reasoning) ? (reasoning.effort ?? undefined) : undefined;

const called = (call_id: string): Json => ({
  type: 'function_call',
  call_id,
  name: 'look',
  arguments: '{}',
});

const CALLS: readonly unknown[] = ['function_call', 'custom_tool_call'];
const OUTPUTS: readonly unknown[] = ['function_call_output', 'custom_tool_call_output'];

/** What OpenAI's Responses API refuses. */
export const OPENAI_RESPONSES_RULES: readonly Rule[] = [
  {
    source: `${SPEC} CreateResponse`,
    broken: { ...ASKED, messages: [] },
    objection({ body }) {
      const unknown = Object.keys(body).find((name) => !MEMBERS.has(name));
      return unknown && `Unknown parameter: '${unknown}'.`;
    },
  },
  {
    source: `${SPEC} ModelResponseProperties.max_output_tokens (16 at least)`,
    broken: { ...ASKED, max_output_tokens: 15 },
    objection: ({ body: { max_output_tokens: cap } }) =>
      typeof cap === 'number' && cap < 16
        ? "Invalid 'max_output_tokens': integer below minimum value."
        : undefined,
  },
  {
    source: `${SPEC} FunctionCallOutputItemParam.call_id (1 to 64 characters)`,
    broken: { ...ASKED, input: [called('x'.repeat(65))] },
    objection: ({ body }) =>
      firstOf(itemsOf(body), ({ call_id: id, type }, at) => {
        if (!CALLS.includes(type) && !OUTPUTS.includes(type)) return undefined;
        return typeof id === 'string' && id.length >= 1 && id.length <= 64
          ? undefined
          : `Invalid 'input[${at}].call_id': string too long. Expected a string with maximum length 64.`;
      }),
  },
  {
    source: `${GUIDES}/function-calling (each call has one output behind it)`,
    broken: { ...ASKED, input: [called('call_1')] },
    objection({ body }) {
      if (typeof body.previous_response_id === 'string') return undefined;
      const open = new Set<unknown>();
      const objection = firstOf(itemsOf(body), ({ call_id: id, type }) => {
        if (CALLS.includes(type)) {
          if (open.has(id)) return `Duplicate call_id ${String(id)}.`;
          open.add(id);
        }
        return OUTPUTS.includes(type) && !open.delete(id)
          ? `No tool call found for function call output with call_id ${String(id)}.`
          : undefined;
      });
      const [left] = open;
      return (
        objection ??
        (left === undefined ? undefined : `No tool output found for function call ${String(left)}.`)
      );
    },
  },
  {
    source: `${SPEC} OutputTextContent, InputTextContent (by role)`,
    broken: {
      ...ASKED,
      input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }],
    },
    objection: ({ body }) =>
      firstOf(itemsOf(body), ({ content, role }, at) => {
        const isOdd = (type: unknown) =>
          role === 'assistant'
            ? type !== 'output_text' && type !== 'refusal'
            : !String(type).startsWith('input_');
        const odd =
          role === undefined ? undefined : listOf(content).find(({ type }) => isOdd(type));
        return odd && `Invalid value: '${String(odd.type)}' of input[${at}].content.`;
      }),
  },
  {
    source: `${SPEC} FunctionToolParam.name (1 to 128 characters)`,
    broken: { ...ASKED, tools: [{ type: 'function', name: 'files.read' }] },
    objection: ({ body }) =>
      firstOf(functionsOf(body), ({ name }, at) => {
        const why = objectionToName(name, 128);
        return why && `Invalid 'tools[${at}].name': ${why}`;
      }),
  },
  {
    source: 'https://github.com/tailcallhq/forgecode/issues/1359 (error of the vendor)',
    broken: { ...ASKED, tools: [{ type: 'function', name: 'look', parameters: {} }] },
    objection: ({ body }) =>
      // A function is strict unless it says otherwise.
      firstOf(functionsOf(body), (one) =>
        objectionToParameters({ ...one, strict: one.strict ?? true }),
      ),
  },
  {
    source: `${SPEC} CreateResponse.tools`,
    broken: { ...ASKED, tools: [], tool_choice: 'required' },
    objection: ({ body: { tool_choice: choice, tools } }) =>
      choice === 'required' || isObject(choice)
        ? objectionToList(tools ?? []) && "Tool choice needs 'tools'."
        : undefined,
  },
  {
    source: `${GUIDES}/structured-outputs`,
    broken: {
      ...ASKED,
      text: {
        format: { type: 'json_schema', name: 'a', strict: true, schema: { type: 'object' } },
      },
    },
    objection({ body: { text } }) {
      const format = isObject(text) && isObject(text.format) ? text.format : {};
      if (format.type !== 'json_schema') return undefined;
      const why =
        objectionToName(format.name, 64) ??
        (format.strict === true ? objectionToStrict(format.schema) : undefined);
      return why && `Invalid schema for response_format: ${why}`;
    },
  },
  {
    source: `${GUIDES}/latest-model (efforts)`,
    broken: { ...ASKED, model: 'gpt-6.1-sol', reasoning: { effort: 'none' } },
    objection: ({ body }) => objectionToEffort(body.model, effortOf(body)),
  },
  {
    source:
      'https://github.com/OpenHands/software-agent-sdk/issues/1837 (error of the vendor); https://github.com/vercel/ai/issues/10932',
    broken: { ...ASKED, temperature: 0 },
    objection: ({ body }) => objectionToSampling(body, effortOf(body)),
  },
];
