import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';

/**
 * String formats that Claude's structured outputs enforce
 * (https://platform.claude.com/docs/en/build-with-claude/structured-outputs).
 */
const FORMATS: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Keywords that structured outputs enforce for every value. */
const KEPT: ReadonlySet<string> = new Set(['type', 'title', 'description', 'default', 'required']);

/** Keywords that are dropped, because they constrain nothing or are set anew. */
const SILENT: ReadonlySet<string> = new Set(['$schema', '$id', '$comment', 'additionalProperties']);

const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

/** `oneOf` becomes `anyOf`, which is enforced and differs only for values that match two branches. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ['anyOf', 'anyOf'],
  ['oneOf', 'anyOf'],
  ['allOf', 'allOf'],
]);

/**
 * Returns a schema that Claude's structured outputs accept, as the vendor's SDKs make it: objects are closed, and keywords that
 * are not enforced (for example bounds of numbers and lengths) move into the description. A schema with more than
 * `MODEL_LIMITS.chat.strictSchema.parts` parts is returned unchanged.
 */
export function closedSchema(schema: Json): Json {
  const room = { left: MODEL_LIMITS.chat.strictSchema.parts };
  const closed = closedPart(schema, room, 0);
  return room.left < 0 ? schema : closed;
}

function closedPart(part: Json, room: { left: number }, depth: number): Json {
  if (--room.left < 0 || depth > MODEL_LIMITS.chat.strictSchema.depth) {
    room.left = -1;
    return part;
  }
  // Beside a `$ref` only definitions are allowed.
  const isReference = typeof part.$ref === 'string';
  const within = (one: unknown) => (isObject(one) ? closedPart(one, room, depth + 1) : one);
  const closed: Record<string, unknown> = {};
  const told: string[] = [];
  for (const [keyword, value] of Object.entries(part)) {
    const list = LISTS.get(keyword);
    if (MAPS.has(keyword) && isObject(value)) {
      closed[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, within(one)]),
      );
    } else if (isReference) {
      if (keyword === '$ref') closed.$ref = value;
    } else if (list !== undefined && Array.isArray(value) && !(list in closed)) {
      closed[list] = value.map(within);
    } else if (keyword === 'items' && isObject(value)) closed.items = within(value);
    else if (isKept(keyword, value)) closed[keyword] = value;
    else if (!SILENT.has(keyword)) told.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  if (isObjectSchema(part) && !isReference) closed.additionalProperties = false;
  if (told.length > 0) closed.description = describedBy(part.description, told);
  return closed;
}

const isPlain = (value: unknown): boolean => value === null || typeof value !== 'object';

/** Returns true for a keyword that stays in the schema. `const` and `enum` stay with plain values, `minItems` with 0 and 1. */
const isKept = (keyword: string, value: unknown): boolean =>
  KEPT.has(keyword) ||
  (keyword === 'const' && isPlain(value)) ||
  (keyword === 'enum' && Array.isArray(value) && value.every(isPlain)) ||
  (keyword === 'minItems' && (value === 0 || value === 1)) ||
  (keyword === 'format' && FORMATS.has(value));

const isObjectSchema = ({ properties, type }: Json): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined;

const describedBy = (description: unknown, told: readonly string[]): string =>
  (typeof description === 'string' && description !== '' ? `${description}\n\n` : '') +
  `{${told.join(', ')}}`;
