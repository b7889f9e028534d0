import { z } from 'zod';
import { isObject } from '../../../kernel/json.ts';
import { PHONE_LIMITS } from '../../limits.ts';

const { depth: MOST_DEPTH, schemaChars, schemas } = PHONE_LIMITS.analysis;

/** Keywords whose check takes time in proportion to the value. Patterns and references are none. */
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'enum',
  'const',
  'properties',
  'required',
  'items',
  'anyOf',
  'additionalProperties',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]);

/** Characters that no row can hold, as JSON writes them. */
const UNSTORABLE = /\\u(0000|d[89a-f])/i;

/** A JSON schema of an object, as a developer gives it. */
export type AnalysisSchema = Readonly<Record<string, z.core.util.JSONType>>;

/** Returns the fault of a schema. Undefined when values can be checked by the schema. */
export function problemOfSchema(schema: AnalysisSchema): string | undefined {
  const text = JSON.stringify(schema);
  if (text.length > schemaChars) return `must have at most ${schemaChars} characters`;
  if (UNSTORABLE.test(text)) return 'must hold no NUL and no half characters';
  if (schema.type !== 'object') return 'must have the type "object"';
  const problem = problemWithin(schema, { depth: 0, left: { schemas } });
  if (problem !== undefined) return problem;
  try {
    checkerOf(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'cannot be read';
  }
}

/** Checks values by a schema that has no problem. */
export const checkerOf = (schema: AnalysisSchema): z.ZodType =>
  z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);

function problemWithin(
  schema: unknown,
  { depth, left }: { readonly depth: number; readonly left: { schemas: number } },
): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isObject(schema) || Array.isArray(schema)) return 'must be made of schemas';
  if (depth > MOST_DEPTH) return `must be at most ${MOST_DEPTH} levels deep`;
  if (--left.schemas < 0) return `must be made of at most ${schemas} schemas`;
  const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
  if (unknown !== undefined) return `has the keyword "${unknown}", which is not served`;
  const { additionalProperties = true, anyOf = [], items = true, properties = {} } = schema;
  if (!Array.isArray(anyOf) || !isObject(properties)) return 'must be made of schemas';
  const inner = [...Object.values(properties), ...anyOf, items, additionalProperties];
  for (const part of inner) {
    const problem = problemWithin(part, { depth: depth + 1, left });
    if (problem !== undefined) return problem;
  }
  return undefined;
}
