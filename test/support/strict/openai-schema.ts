import { firstOf, isObject, type Json, listOf, schemasIn } from './rule.ts';

/** Keywords that a strict schema may not have (https://developers.openai.com/api/docs/guides/structured-outputs). */
const NOT_STRICT = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'patternProperties',
  'prefixItems',
  'dependentRequired',
  'dependentSchemas',
];

/** Why OpenAI does not take the parameters of a function. Null and nothing are no parameters. */
export function objectionToParameters(named: Json): string | undefined {
  const { name, parameters, strict } = named;
  if (parameters === undefined || parameters === null) return undefined;
  const about = `Invalid schema for function '${String(name)}'`;
  if (!isObject(parameters) || parameters.type !== 'object') {
    const type = isObject(parameters) ? String(parameters.type ?? 'None') : 'None';
    return `${about}: schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`;
  }
  const why =
    firstOf(schemasIn(parameters), ({ items, properties, type }) => {
      if (type === 'object' && !isObject(properties)) return 'object schema missing properties.';
      return type === 'array' && items === undefined ? 'array schema missing items.' : undefined;
    }) ?? (strict === true ? objectionToStrict(parameters) : undefined);
  return why && `${about}: In context=(), ${why}`;
}

/** Why a schema cannot be kept to the letter. */
export const objectionToStrict = (schema: unknown): string | undefined =>
  firstOf(schemasIn(schema), (part) => {
    const { additionalProperties: others, properties, required, type } = part;
    const odd = NOT_STRICT.find((keyword) => keyword in part);
    if (odd !== undefined) return `'${odd}' is not permitted.`;
    if (type !== 'object' && properties === undefined) return undefined;
    if (others !== false)
      return "'additionalProperties' is required to be supplied and to be false.";
    const names = Object.keys(isObject(properties) ? properties : {});
    return Array.isArray(required) && names.every((name) => required.includes(name))
      ? undefined
      : "'required' is required to be supplied and to be an array including every key in properties.";
  });

const NAME = /^[a-zA-Z0-9_-]+$/;

/** Why a name is none of a function or of a schema. */
export const objectionToName = (name: unknown, most: number): string | undefined => {
  if (typeof name !== 'string' || name === '') return 'Missing required parameter: name.';
  if (name.length > most) return `string too long. Expected a string with maximum length ${most}.`;
  return NAME.test(name) ? undefined : `string does not match pattern. Expected '${NAME.source}'.`;
};

/** Why a list of tools is refused; undefined where there are none. */
export function objectionToList(tools: unknown): string | undefined {
  if (tools === undefined || tools === null) return undefined;
  return listOf(tools).length === 0 ? "Invalid 'tools': empty array." : undefined;
}

/** Efforts by model, as the catalogue's sources have them. */
const EFFORTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^gpt-6(\.1-|-astra)/, ['low', 'medium', 'high', 'xhigh', 'max']],
  [/^gpt-(6|5\.6)-/, ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
];

export function objectionToEffort(model: unknown, effort: unknown): string | undefined {
  const taken = EFFORTS.find(([models]) => models.test(String(model)))?.[1];
  return taken === undefined || effort === undefined || taken.includes(String(effort))
    ? undefined
    : `Unsupported value: '${String(effort)}' is not supported with the '${String(model)}' model.`;
}

/** Models that think take neither `temperature` nor `top_p`, but where they are told not to think. */
export const objectionToSampling = (
  { model, temperature, top_p: topP }: Json,
  effort: unknown,
): string | undefined => {
  if (!/^gpt-[56]/.test(String(model)) || effort === 'none') return undefined;
  const field = temperature !== undefined && temperature !== 1 ? 'temperature' : 'top_p';
  return field === 'temperature' || (topP !== undefined && topP !== 1)
    ? `Unsupported parameter: '${field}' is not supported with this model.`
    : undefined;
};
