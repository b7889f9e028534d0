import type { Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { findFormat, isNumberOf } from './formats.ts';
import { charsOf, isList, isOfType, isRecord, isSame } from './json-value.ts';
import { namedSchemas, type Schema, type SchemaRoot, schemaOf, schemasOf } from './schema-root.ts';
import { SchemaRefused } from './schema-work.ts';

/**
 * Whether a value is what a schema describes, by draft 2020-12 and what of draft 7 is still written. Formats count.
 * Whatever is filled in is judged by this before it is used.
 */
export function admits(root: SchemaRoot, schema: Schema, value: unknown, refs = 0): boolean {
  root.work.spend();
  if (typeof schema === 'boolean') return schema;
  if (refs > LIMITS.engines.schemaRefs) throw new SchemaRefused('refers to itself without end');
  return (
    admitsKind(schema, value) &&
    (typeof value !== 'number' || admitsNumber(schema, value)) &&
    (typeof value !== 'string' || admitsText(root, schema, value)) &&
    (!isList(value) || admitsList(root, schema, value)) &&
    (!isRecord(value) || admitsRecord(root, schema, value)) &&
    admitsCombined(root, schema, value, refs + 1)
  );
}

function admitsKind(schema: Json, value: unknown): boolean {
  const { type } = schema;
  if (type !== undefined) {
    const isOne = isList(type) ? type.some((one) => isOfType(value, one)) : isOfType(value, type);
    if (!isOne) return false;
  }
  if (Object.hasOwn(schema, 'const') && !isSame(schema.const, value)) return false;
  return !isList(schema.enum) || schema.enum.some((one) => isSame(one, value));
}

function admitsNumber(schema: Json, value: number): boolean {
  const { exclusiveMaximum: below, exclusiveMinimum: above, format, maximum, minimum } = schema;
  if (typeof minimum === 'number' && (above === true ? value <= minimum : value < minimum)) {
    return false;
  }
  if (typeof maximum === 'number' && (below === true ? value >= maximum : value > maximum)) {
    return false;
  }
  if (typeof above === 'number' && value <= above) return false;
  if (typeof below === 'number' && value >= below) return false;
  const { multipleOf } = schema;
  if (typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf)) return false;
  return isNumberOf(format, value);
}

function admitsText(root: SchemaRoot, schema: Json, value: string): boolean {
  root.work.spend(value.length / 64);
  const { format, maxLength, minLength, pattern } = schema;
  if (minLength !== undefined || maxLength !== undefined) {
    const chars = charsOf(value);
    if (typeof minLength === 'number' && chars < minLength) return false;
    if (typeof maxLength === 'number' && chars > maxLength) return false;
  }
  if (findFormat(format)?.isOne(value) === false) return false;
  return typeof pattern !== 'string' || root.matches(pattern, value);
}

function admitsList(root: SchemaRoot, schema: Json, value: readonly unknown[]): boolean {
  const { maxItems, minItems, uniqueItems } = schema;
  if (typeof minItems === 'number' && value.length < minItems) return false;
  if (typeof maxItems === 'number' && value.length > maxItems) return false;
  if (uniqueItems === true) {
    for (const [index, item] of value.entries()) {
      root.work.spend(1 + index / 8);
      if (value.slice(0, index).some((other) => isSame(other, item))) return false;
    }
  }
  const { prefix, rest } = itemSchemas(schema);
  if (!value.every((item, index) => admits(root, prefix[index] ?? rest, item))) return false;
  if (schema.contains === undefined) return true;
  const { contains, maxContains, minContains } = schema;
  const wanted = schemaOf(contains);
  const found = value.filter((item) => admits(root, wanted, item)).length;
  const least = typeof minContains === 'number' ? minContains : 1;
  return found >= least && (typeof maxContains !== 'number' || found <= maxContains);
}

/** What the items of a list are: the first of them by their place, and all others alike. */
export function itemSchemas({ additionalItems, items, prefixItems }: Json): {
  readonly prefix: readonly Schema[];
  readonly rest: Schema;
} {
  if (isList(items)) return { prefix: schemasOf(items), rest: schemaOf(additionalItems ?? true) };
  return { prefix: schemasOf(prefixItems), rest: schemaOf(items ?? true) };
}

function admitsRecord(root: SchemaRoot, schema: Json, value: Json): boolean {
  const names = Object.keys(value);
  const { maxProperties, minProperties, propertyNames } = schema;
  if (typeof minProperties === 'number' && names.length < minProperties) return false;
  if (typeof maxProperties === 'number' && names.length > maxProperties) return false;
  if (!requiredBy(schema, value).every((name) => Object.hasOwn(value, name))) return false;
  for (const name of names) {
    if (propertyNames !== undefined && !admits(root, schemaOf(propertyNames), name)) return false;
    const schemas = memberSchemas(root, schema, name);
    if (!schemas.every((one) => admits(root, one, value[name]))) return false;
  }
  return true;
}

/** The members that a schema wants beside those that are there already. */
export function requiredBy(schema: Json, present: Json): readonly string[] {
  const { dependencies, dependentRequired, required } = schema;
  const names = isList(required) ? required.filter((name) => typeof name === 'string') : [];
  for (const depending of [dependentRequired, dependencies]) {
    for (const [name, needs] of Object.entries(isRecord(depending) ? depending : {})) {
      if (isList(needs) && Object.hasOwn(present, name)) names.push(...needs.map(String));
    }
  }
  return names;
}

/** What one member of an object must be, by this schema alone. */
export function memberSchemas(root: SchemaRoot, schema: Json, name: string): readonly Schema[] {
  const { additionalProperties, patternProperties, properties } = schema;
  const found: Schema[] = [];
  if (isRecord(properties) && Object.hasOwn(properties, name)) {
    found.push(schemaOf(properties[name]));
  }
  for (const [pattern, member] of namedSchemas(patternProperties)) {
    if (root.matches(pattern, name)) found.push(member);
  }
  if (found.length > 0 || additionalProperties === undefined) return found;
  return [schemaOf(additionalProperties)];
}

function admitsCombined(root: SchemaRoot, schema: Json, value: unknown, refs: number): boolean {
  const fits = (one: Schema) => admits(root, one, value, refs);
  const { allOf, anyOf, not, oneOf } = schema;
  if (schema.$ref !== undefined && !fits(root.follow(schema.$ref))) return false;
  if (!schemasOf(allOf).every(fits)) return false;
  if (isList(anyOf) && !schemasOf(anyOf).some(fits)) return false;
  if (isList(oneOf) && schemasOf(oneOf).filter(fits).length !== 1) return false;
  if (not !== undefined && fits(schemaOf(not))) return false;
  if (schema.if !== undefined) {
    const then = fits(schemaOf(schema.if)) ? schema.then : schema.else;
    if (then !== undefined && !fits(schemaOf(then))) return false;
  }
  if (!isRecord(value)) return true;
  if (!dependentSchemas(schema).every(([name, one]) => !Object.hasOwn(value, name) || fits(one))) {
    return false;
  }
  const rest = schema.unevaluatedProperties;
  if (rest === undefined) return true;
  const known = evaluated(root, schema, value, refs);
  return Object.entries(value).every(
    ([name, member]) => known.has(name) || admits(root, schemaOf(rest), member),
  );
}

/** The schemas that count once a member is there. */
export const dependentSchemas = (schema: Json): readonly (readonly [string, Schema])[] => [
  ...namedSchemas(schema.dependentSchemas),
  ...Object.entries(isRecord(schema.dependencies) ? schema.dependencies : {}).flatMap(
    ([name, needs]) => (isList(needs) ? [] : [[name, schemaOf(needs)] as const]),
  ),
];

/** The parts of a condition that count for a value. */
function conditional(root: SchemaRoot, schema: Json, value: Json, refs: number): Schema[] {
  if (schema.if === undefined) return [];
  const isMet = admits(root, schemaOf(schema.if), value, refs);
  const parts = isMet ? [schema.if, schema.then] : [schema.else];
  return parts.filter((one) => one !== undefined).map(schemaOf);
}

/** The members that a schema says anything of, itself or by what it is combined of. */
function evaluated(root: SchemaRoot, schema: Schema, value: Json, refs: number): Set<string> {
  const known = new Set<string>();
  if (typeof schema === 'boolean') return known;
  root.work.spend();
  for (const name of Object.keys(value)) {
    if (memberSchemas(root, schema, name).length > 0) known.add(name);
  }
  const branches = [
    ...(schema.$ref === undefined ? [] : [root.follow(schema.$ref)]),
    ...[schema.allOf, schema.anyOf, schema.oneOf].flatMap(schemasOf),
    ...conditional(root, schema, value, refs),
    ...dependentSchemas(schema).map(([, one]) => one),
  ];
  for (const branch of branches) {
    if (!admits(root, branch, value, refs)) continue;
    for (const name of evaluated(root, branch, value, refs + 1)) known.add(name);
  }
  return known;
}
