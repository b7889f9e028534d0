import { objectionToBound } from './claude-schema.ts';
import { firstOf, isBlank, isObject, type Json, listOf, type Rule, typeOfBytes } from './rule.ts';

const DOCS = 'https://platform.claude.com/docs/en';
const ASKED = { model: 'claude-sonnet-5', max_tokens: 16 };
const HELLO: Json = { role: 'user', content: 'Hello' };

const FIELDS = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'metadata',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'thinking',
  'output_config',
  'cache_control',
  'context_management',
  'service_tier',
]);

/** Members of a prompt that is counted. */
const COUNTED = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
]);

const SAMPLING = ['temperature', 'top_p', 'top_k'];
const EFFORTS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const IMAGES: readonly unknown[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

const isCount = (path: string) => path.endsWith('/count_tokens');

const blocksOf = (content: unknown): readonly Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);

type Turn = { readonly role: unknown; readonly blocks: readonly Json[]; readonly turn: Json };

const turnsOf = ({ messages }: Json): readonly Turn[] =>
  listOf(messages).map((turn) => ({ role: turn.role, blocks: blocksOf(turn.content), turn }));

/** All blocks of the messages, also those within results of tools. */
const allBlocks = (body: Json): readonly Json[] =>
  turnsOf(body).flatMap(({ blocks }) => blocks.flatMap((one) => [one, ...listOf(one.content)]));

const tool = (more: Json): Json => ({
  ...ASKED,
  messages: [HELLO],
  tools: [{ name: 'look', input_schema: { type: 'object' }, ...more }],
});

const call = (id: string): Json => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string): Json => ({ type: 'tool_result', tool_use_id: id, content: 'x' });
const exchange = (id: string): readonly Json[] => [
  { role: 'assistant', content: [call(id)] },
  { role: 'user', content: [result(id)] },
];

/** What Anthropic's Messages API refuses. */
export const ANTHROPIC_RULES: readonly Rule[] = [
  {
    source: `${DOCS}/api/messages/create`,
    broken: { ...ASKED, messages: [HELLO], n: 2 },
    objection({ body, path }) {
      const known = isCount(path) ? COUNTED : FIELDS;
      const odd = Object.keys(body).find((field) => !known.has(field));
      return odd && `${odd}: Extra inputs are not permitted`;
    },
  },
  {
    source: `${DOCS}/api/messages/create (max_tokens, required)`,
    broken: { model: 'claude-sonnet-5', messages: [HELLO] },
    objection: ({ body, path }) =>
      isCount(path) || (Number.isInteger(body.max_tokens) && Number(body.max_tokens) > 0)
        ? undefined
        : 'max_tokens: Field required',
  },
  {
    source: `${DOCS}/api/versioning (2026-10-21)`,
    broken: { ...ASKED, model: 'x', messages: [HELLO], top_k: 2 },
    under: { 'anthropic-version': '2026-10-21' },
    objection({ body, headers }) {
      if (headers['anthropic-version'] !== '2026-10-21') return undefined;
      const field = SAMPLING.find((one) => body[one] !== undefined);
      return field && `${field}: Extra inputs are not permitted`;
    },
  },
  {
    source: `${DOCS}/models/haiku-5-5/migration-guide, ${DOCS}/about-claude/models/migration-guide`,
    broken: { ...ASKED, messages: [HELLO], temperature: 0 },
    objection({ body }) {
      const refuses = /^claude-(opus-4-[78]|(opus|sonnet|haiku|fable|mythos)-5)/;
      const field = SAMPLING.find((one) => body[one] !== undefined);
      return field && refuses.test(String(body.model))
        ? `\`${field}\` is deprecated for this model.`
        : undefined;
    },
  },
  {
    source: `${DOCS}/about-claude/models/migrating-to-claude-4 (update sampling parameters)`,
    broken: { ...ASKED, model: 'claude-haiku-4-5', messages: [HELLO], temperature: 0, top_p: 1 },
    objection: ({ body: { model, temperature, top_p } }) =>
      /^claude-(opus|sonnet|haiku)-4-[56]/.test(String(model)) &&
      temperature !== undefined &&
      top_p !== undefined
        ? '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
        : undefined,
  },
  {
    source: `${DOCS}/api/messages/create (temperature, from 0 to 1)`,
    broken: { ...ASKED, model: 'x', messages: [HELLO], temperature: 1.5 },
    objection: ({ body: { temperature: given } }) =>
      typeof given === 'number' && (given < 0 || given > 1)
        ? 'temperature: range: 0..1'
        : undefined,
  },
  {
    source: 'https://github.com/BerriAI/litellm/issues/3286 (error of the vendor)',
    broken: { ...ASKED, messages: [HELLO], stop_sequences: ['\n'] },
    objection: ({ body: { stop_sequences: stops } }) =>
      Array.isArray(stops) && stops.some(isBlank)
        ? 'stop_sequences: each stop sequence must contain non-whitespace'
        : undefined,
  },
  {
    source: `${DOCS}/build-with-claude/effort`,
    broken: {
      ...ASKED,
      model: 'claude-haiku-4-5',
      messages: [HELLO],
      output_config: { effort: 'low' },
    },
    objection({ body: { model, output_config: config } }) {
      const { effort, format: _, ...others } = isObject(config) ? config : {};
      const [odd] = Object.keys(others);
      if (odd !== undefined) return `output_config.${odd}: Extra inputs are not permitted`;
      if (effort === undefined) return undefined;
      if (String(model).startsWith('claude-haiku-4-5')) {
        return 'This model does not support the effort parameter.';
      }
      return EFFORTS.includes(effort) ? undefined : 'output_config.effort: odd';
    },
  },
  {
    source: `${DOCS}/build-with-claude/structured-outputs`,
    broken: {
      ...ASKED,
      messages: [HELLO],
      output_config: {
        format: { type: 'json_schema', schema: { type: 'integer', minimum: 1 } },
      },
    },
    objection({ body: { output_config: config } }) {
      const format = isObject(config) ? config.format : undefined;
      if (!isObject(format)) return undefined;
      const { schema, type, ...more } = format;
      if (type !== 'json_schema' || Object.keys(more).length > 0)
        return 'output_config.format: odd';
      const why = objectionToBound(schema);
      return why && `output_config.format.schema: ${why}`;
    },
  },
  {
    source: `${DOCS}/agents-and-tools/tool-use/strict-tool-use`,
    broken: tool({ strict: true }),
    objection: ({ body }) =>
      firstOf(listOf(body.tools), ({ input_schema: schema, strict }, at) => {
        const why = strict === true ? objectionToBound(schema) : undefined;
        return why && `tools.${at}.custom: ${why}`;
      }),
  },
  {
    source: `${DOCS}/agents-and-tools/tool-use/define-tools (name), https://github.com/bug-ops/zeph/pull/1311`,
    broken: tool({ name: 'files.read' }),
    objection: ({ body }) =>
      firstOf(listOf(body.tools), ({ name }, at) =>
        /^[a-zA-Z0-9_-]{1,128}$/.test(String(name))
          ? undefined
          : `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
      ),
  },
  {
    source: `${DOCS}/agents-and-tools/tool-use/define-tools (unique names)`,
    broken: {
      ...ASKED,
      messages: [HELLO],
      tools: ['look', 'look'].map((name) => ({ name, input_schema: { type: 'object' } })),
    },
    objection({ body }) {
      const names = listOf(body.tools).map(({ name }) => name);
      return new Set(names).size < names.length ? 'tools: Tool names must be unique.' : undefined;
    },
  },
  {
    source: `${DOCS}/api/messages/create (tools.input_schema.type)`,
    broken: tool({ input_schema: {} }),
    objection: ({ body }) =>
      firstOf(listOf(body.tools), ({ input_schema: schema, type }, at) => {
        if (type !== undefined && type !== null && type !== 'custom') return undefined;
        if (!isObject(schema) || schema.type !== 'object') {
          return `tools.${at}.custom.input_schema.type: Field required`;
        }
        const odd = ['anyOf', 'oneOf', 'allOf'].find((keyword) => keyword in schema);
        return odd && `tools.${at}.custom.input_schema: does not support ${odd} at the top level`;
      }),
  },
  {
    source:
      'https://glama.ai/mcp/servers/@magemaclean/azure-devops-mcp (TOOL-NAME-VALIDATION.md, error of the vendor)',
    broken: tool({ input_schema: { type: 'object', properties: { 'a b': {} } } }),
    objection: ({ body }) =>
      firstOf(listOf(body.tools), ({ input_schema: schema }, at) => {
        const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
        return Object.keys(properties).every((key) => /^[a-zA-Z0-9_.-]{1,64}$/.test(key))
          ? undefined
          : `tools.${at}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`;
      }),
  },
  {
    source: `${DOCS}/api/messages/create (tool_choice)`,
    broken: { ...ASKED, messages: [HELLO], tool_choice: { type: 'auto' } },
    objection({ body: { tool_choice: choice, tools } }) {
      if (!isObject(choice)) return undefined;
      const names = listOf(tools).map(({ name }) => name);
      if (names.length === 0) return 'tool_choice may only be specified while providing tools.';
      return choice.type === 'tool' && !names.includes(choice.name)
        ? `Tool '${String(choice.name)}' not found in provided tools`
        : undefined;
    },
  },
  {
    source: `${DOCS}/api/messages/create (messages)`,
    broken: { ...ASKED, messages: [{ role: 'assistant', content: 'Hello' }] },
    objection: ({ body }) =>
      turnsOf(body)[0]?.role === 'user'
        ? undefined
        : 'messages: first message must use the user role',
  },
  {
    source: `${DOCS}/api/errors; https://github.com/anthropics/claude-code/issues (all messages must have non-empty content)`,
    broken: { ...ASKED, messages: [{ role: 'user', content: [] }] },
    objection: ({ body }) =>
      firstOf(turnsOf(body), ({ blocks, role, turn }, at) => {
        const config = isObject(turn.output_config) ? turn.output_config : {};
        const mayBeEmpty = role === 'system' && config.effort !== undefined;
        return blocks.length === 0 && !mayBeEmpty
          ? `messages.${at}: all messages must have non-empty content`
          : undefined;
      }),
  },
  {
    source:
      'https://github.com/anthropics/claude-code/issues (text content blocks must contain non-whitespace text)',
    broken: { ...ASKED, messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] },
    objection: ({ body }) =>
      [...blocksOf(body.system), ...allBlocks(body)].some(
        ({ text, type }) => type === 'text' && isBlank(text),
      )
        ? 'messages: text content blocks must contain non-whitespace text'
        : undefined,
  },
  {
    source: 'https://github.com/tailcallhq/forgecode/issues/1872 (error of the vendor)',
    broken: { ...ASKED, messages: [HELLO, { role: 'assistant', content: 'It is ' }] },
    objection({ body }) {
      const { blocks = [], role } = turnsOf(body).at(-1) ?? {};
      const { text, type } = blocks.at(-1) ?? {};
      return role === 'assistant' && type === 'text' && /\s$/.test(String(text))
        ? 'messages: final assistant content cannot end with trailing whitespace'
        : undefined;
    },
  },
  {
    source: `${DOCS}/about-claude/models/migration-guide (prefill removal)`,
    broken: { ...ASKED, messages: [HELLO, { role: 'assistant', content: 'It is' }] },
    objection: ({ body }) =>
      /^claude-(\w+-4-[678]|(opus|sonnet|haiku|fable|mythos)-5)/.test(String(body.model)) &&
      turnsOf(body).at(-1)?.role === 'assistant'
        ? 'This model does not support assistant message prefill. The conversation must end with a user message.'
        : undefined,
  },
  {
    source: 'https://github.com/CommandCodeAI/command-code/issues/323 (error of the vendor)',
    broken: { ...ASKED, messages: [HELLO, ...exchange('functions.Bash:0')] },
    objection: ({ body }) =>
      firstOf(allBlocks(body), ({ id, tool_use_id: of, type }) => {
        const given = type === 'tool_use' ? id : of;
        return (type === 'tool_use' || type === 'tool_result') &&
          !/^[a-zA-Z0-9_-]+$/.test(String(given))
          ? `messages: ${type}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
          : undefined;
      }),
  },
  {
    source: `${DOCS}/agents-and-tools/tool-use/handle-tool-calls (unique ids)`,
    broken: { ...ASKED, messages: [HELLO, ...exchange('call_0'), ...exchange('call_0')] },
    objection({ body }) {
      const ids = allBlocks(body).flatMap(({ id, type }) => (type === 'tool_use' ? [id] : []));
      return new Set(ids).size < ids.length ? 'messages: `tool_use` ids must be unique' : undefined;
    },
  },
  {
    source: `${DOCS}/agents-and-tools/tool-use/handle-tool-calls (results follow their calls, and come first)`,
    broken: {
      ...ASKED,
      messages: [HELLO, { role: 'assistant', content: [call('call_0')] }, HELLO],
    },
    objection({ body }) {
      let open = new Set<unknown>();
      const objection = firstOf(turnsOf(body), ({ blocks, role }, at) => {
        const results = blocks.flatMap((one) =>
          one.type === 'tool_result' ? [one.tool_use_id] : [],
        );
        const isMatched = results.length === open.size && results.every((id) => open.has(id));
        if (!isMatched) return `messages.${at}: tool_use without tool_result`;
        const isFirst = blocks.slice(0, results.length).every(({ type }) => type === 'tool_result');
        if (!isFirst) return `messages.${at}: tool_result blocks must come first`;
        open = new Set(blocks.flatMap(({ id, type }) => (type === 'tool_use' ? [id] : [])));
        return open.size > 0 && role !== 'assistant'
          ? `messages.${at}: tool_use of a user`
          : undefined;
      });
      return objection ?? (open.size > 0 ? 'messages: tool_use without tool_result' : undefined);
    },
  },
  {
    source: `${DOCS}/api/messages/create (tool_use.input)`,
    broken: {
      ...ASKED,
      messages: [
        HELLO,
        { role: 'assistant', content: [{ ...call('call_0'), input: '{' }] },
        { role: 'user', content: [result('call_0')] },
      ],
    },
    objection: ({ body }) =>
      allBlocks(body).every(({ input, type }) => type !== 'tool_use' || isObject(input))
        ? undefined
        : 'messages: tool_use.input: Input should be a valid dictionary',
  },
  {
    source: 'https://github.com/home-assistant/core/issues/167208 (error of the vendor)',
    broken: {
      ...ASKED,
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: '/9j/4AAQSkZJRgABAQAAAQ' },
            },
          ],
        },
      ],
    },
    objection: ({ body }) =>
      firstOf(allBlocks(body), ({ source, type }) => {
        if (!isObject(source) || source.type !== 'base64') return undefined;
        const { data, media_type: told } = source;
        if (type === 'image' && !IMAGES.includes(told)) return 'media_type: odd';
        const shown = typeOfBytes(String(data));
        return shown === undefined || shown === told
          ? undefined
          : `The ${type} was specified using the ${told} media type, but appears to be ${shown}`;
      }),
  },
];
