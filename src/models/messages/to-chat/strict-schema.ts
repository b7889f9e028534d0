import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import { type SchemaRoom, schemaRoom } from '../../providers/fit/object-schema.ts';

/** Keywords that OpenAI refuses in a strict schema, by https://developers.openai.com/api/docs/guides/structured-outputs. */
const REFUSED = [
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

/** Keywords whose value is a map of schemas. */
const MAPS = ['properties', '$defs', 'definitions'] as const;

/** Keywords that restrict a value. A strict schema needs at least one of them. */
const NARROWING = ['type', '$ref', 'anyOf', 'enum', 'const'] as const;

/**
 * Returns true when OpenAI takes a schema as strict: each of its objects requires all its properties and allows no others. The
 * vendor answers 400 for any other strict schema. False when `room` ends before the whole schema is read.
 */
export function mayBeStrict(schema: Json, room: SchemaRoom = schemaRoom()): boolean {
  const isStrict = (part: unknown, depth: number): boolean => {
    if (!isObject(part) || Array.isArray(part)) return false;
    room.left -= 1 + (Array.isArray(part.required) ? part.required.length : 0);
    if (depth > MODEL_LIMITS.chat.strictSchema.depth || room.left < 0) return false;
    if (REFUSED.some((keyword) => keyword in part)) return false;
    if (!NARROWING.some((keyword) => keyword in part)) return false;
    if (isObjectSchema(part) && !isClosed(part)) return false;
    const areStrict = (list: readonly unknown[]) => list.every((one) => isStrict(one, depth + 1));
    return (
      MAPS.every((keyword) => part[keyword] === undefined || areStrict(valuesOf(part[keyword]))) &&
      (part.items === undefined || isStrict(part.items, depth + 1)) &&
      (part.anyOf === undefined || (Array.isArray(part.anyOf) && areStrict(part.anyOf)))
    );
  };
  return isStrict(schema, 0);
}

const valuesOf = (map: unknown): readonly unknown[] => (isObject(map) ? Object.values(map) : []);

const isObjectSchema = ({ properties, type }: Json): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined;

function isClosed({ additionalProperties: others, properties, required }: Json): boolean {
  if (others !== false || !Array.isArray(required)) return false;
  const names = new Set<unknown>(required);
  return isObject(properties) && Object.keys(properties).every((name) => names.has(name));
}
