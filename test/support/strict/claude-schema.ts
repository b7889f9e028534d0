import { firstOf, isObject, type Json, schemasIn } from './rule.ts';

/** String formats that structured outputs know (https://platform.claude.com/docs/en/build-with-claude/structured-outputs). */
const FORMATS: readonly unknown[] = [
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
];

/** Keywords that structured outputs do not know, by the same page and the transformation of the vendor's SDKs. */
const UNKNOWN = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'patternProperties',
  'prefixItems',
  'contains',
  'dependentRequired',
  'dependentSchemas',
  'propertyNames',
  'unevaluatedProperties',
];

/** Why a Claude model cannot be bound to a schema. */
export const objectionToBound = (schema: unknown): string | undefined =>
  firstOf(schemasIn(schema), (part) => {
    const { additionalProperties: others, format, minItems, type } = part;
    if (type === 'object' && others !== false) {
      return "For 'object' type, 'additionalProperties' must be explicitly set to false";
    }
    const unknown = UNKNOWN.find((keyword) => keyword in part);
    if (unknown !== undefined) {
      return `For '${String(type)}' type, property '${unknown}' is not supported`;
    }
    if (minItems !== undefined && minItems !== 0 && minItems !== 1) {
      return "For 'array' type, 'minItems' values other than 0 or 1 are not supported";
    }
    if (format !== undefined && !FORMATS.includes(format)) {
      return `For 'string' type, format '${String(format)}' is not supported`;
    }
    return isRecursive(part, schema) ? 'Recursive definitions are not supported' : undefined;
  });

/** Whether a definition refers to itself. */
function isRecursive(part: Json, root: unknown): boolean {
  const definitions = isObject(root) && isObject(root.$defs) ? root.$defs : {};
  const [name] = Object.entries(definitions).find(([, one]) => one === part) ?? [];
  if (name === undefined) return false;
  return [...schemasIn(part)].some(({ $ref }) => $ref === `#/$defs/${name}`);
}
