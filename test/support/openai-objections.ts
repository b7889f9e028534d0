type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** What a request for a response may have, of what a translation could send. */
const RESPONSE_MEMBERS = new Set([
  ...['model', 'input', 'max_output_tokens', 'store', 'stream', 'tools', 'tool_choice'],
  ...['parallel_tool_calls', 'text', 'reasoning', 'temperature', 'top_p'],
]);

const EFFORTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^gpt-6(\.1-|-astra)/, ['low', 'medium', 'high', 'xhigh', 'max']],
  [/^gpt-(6|5\.6)-/, ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
];

/** The sentence with which OpenAI refuses a request of either of its dialects; undefined where it takes it. */
export function openAiObjection(path: string, body: Json): string | undefined {
  return path.endsWith('/responses') ? ofResponse(body) : ofChat(body);
}

function ofChat({ model, reasoning_effort: effort, response_format: format, tools }: Json) {
  if (Array.isArray(tools) && /^gpt-(5\.6|6)/.test(String(model)) && effort !== 'none') {
    return `Function tools with reasoning_effort are not supported for ${String(model)} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
  }
  const named = isObject(format) && isObject(format.json_schema) ? format.json_schema : {};
  const functions = listOf(tools).map((tool) => (isObject(tool.function) ? tool.function : {}));
  return ofEffort(model, effort) ?? ofSchemas([[named, named.schema], ...parametersOf(functions)]);
}

function ofResponse(body: Json): string | undefined {
  const { max_output_tokens: cap, model, reasoning, text, tools } = body;
  const unknown = Object.keys(body).find((name) => !RESPONSE_MEMBERS.has(name));
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'.`;
  if (typeof cap === 'number' && cap < 16) return "Invalid 'max_output_tokens': integer below 16.";
  const unnamed = listOf(tools).find(({ name, type }) => type !== 'function' || name === undefined);
  if (unnamed !== undefined) return "Missing required parameter: 'tools[0].name'.";
  const wished = isObject(reasoning) ? reasoning.effort : undefined;
  const format = isObject(text) && isObject(text.format) ? text.format : {};
  return (
    ofEffort(model, wished) ?? ofSchemas([[format, format.schema], ...parametersOf(listOf(tools))])
  );
}

const listOf = (list: unknown): readonly Json[] => (Array.isArray(list) ? (list as Json[]) : []);

const parametersOf = (functions: readonly Json[]) =>
  functions.map((one) => [one, one.parameters] as const);

function ofEffort(model: unknown, effort: unknown): string | undefined {
  const taken = EFFORTS.find(([models]) => models.test(String(model)))?.[1] ?? [];
  return effort === undefined || taken.includes(String(effort))
    ? undefined
    : `Unsupported value: '${String(effort)}' is not supported with the '${String(model)}' model.`;
}

const ofSchemas = (named: readonly (readonly [Json, unknown])[]): string | undefined =>
  named.some(([{ strict }, schema]) => strict === true && !isStrict(schema))
    ? "Invalid schema: 'required' is required to be supplied and to be an array including every key in properties."
    : undefined;

/** Whatever in it has properties requires all of them, and nothing else may stand there. */
const isStrict = (part: unknown): boolean => {
  if (!isObject(part)) return true;
  const { additionalProperties: others, properties, required } = part;
  const names = isObject(properties) ? Object.keys(properties) : [];
  const isClosed = others === false && names.every((name) => (required as string[]).includes(name));
  if (isObject(properties) && (!Array.isArray(required) || !isClosed)) return false;
  return Object.values(part).every(isStrict);
};
