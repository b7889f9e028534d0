import { copyDigits } from '../../../kernel/json/digits.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';

/**
 * Returns a schema of parameters with `type: object` and `properties`, which every vendor requires. Returns the same object if
 * it has both members.
 */
export function objectSchema(schema: Json): Json {
  const { properties, type } = schema;
  if (type === 'object' && isObject(properties)) return schema;
  if (typeof type === 'string' && type !== 'object') return schema;
  const whole = Object.assign({ type: 'object' }, schema, {
    type: 'object',
    properties: isObject(properties) ? properties : {},
  });
  return copyDigits(schema, whole);
}

/** Keywords whose value is a map of schemas (`MAPS`) or a list of schemas (`LISTS`). */
const MAPS = ['properties', '$defs', 'definitions'] as const;
const LISTS = ['anyOf', 'oneOf', 'allOf'] as const;

/** Number of schema parts that may still be read in one request, as a bound on many or large schemas of an attacker. */
export type SchemaRoom = { left: number };

export const schemaRoom = (): SchemaRoom => ({ left: MODEL_LIMITS.chat.strictSchema.parts });

/**
 * Completes a schema as `objectSchema` does, and adds `items: {}` to arrays without `items`, which OpenAI and Google refuse. A
 * schema with more parts than `room` allows keeps its arrays.
 */
export function completeSchema(schema: Json, room: SchemaRoom): Json {
  const complete = objectSchema(schema);
  return lacksItems(complete, room, 0) ? withItems(complete) : complete;
}

const isList = ({ items, type }: Json): boolean => type === 'array' && items === undefined;

/** Returns true if an array in the first `room.left` parts of a schema lacks `items`. */
function lacksItems(part: Json, room: SchemaRoom, depth: number): boolean {
  if (--room.left < 0 || depth > MODEL_LIMITS.chat.strictSchema.depth) return false;
  if (isList(part)) return true;
  const { items } = part;
  const lacks = (one: unknown) => isObject(one) && lacksItems(one, room, depth + 1);
  if (lacks(items)) return true;
  for (const keyword of MAPS) {
    const map = part[keyword];
    if (!isObject(map)) continue;
    for (const name in map) if (lacks(map[name])) return true;
  }
  for (const keyword of LISTS) {
    const list = part[keyword];
    if (Array.isArray(list) && list.some(lacks)) return true;
  }
  return false;
}

function withItems(part: Json, depth = 0): Json {
  if (depth > MODEL_LIMITS.chat.strictSchema.depth) return part;
  const within = (one: unknown) => (isObject(one) ? withItems(one, depth + 1) : one);
  const complete: Record<string, unknown> = { ...part };
  if (isList(part)) complete.items = {};
  else if (isObject(part.items)) complete.items = within(part.items);
  for (const keyword of MAPS) {
    const map = part[keyword];
    if (!isObject(map)) continue;
    complete[keyword] = Object.fromEntries(
      Object.entries(map).map(([name, one]) => [name, within(one)]),
    );
  }
  for (const keyword of LISTS) {
    const list = part[keyword];
    if (Array.isArray(list)) complete[keyword] = list.map(within);
  }
  return complete;
}
