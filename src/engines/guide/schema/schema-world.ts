import type { Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { dependentSchemas, memberSchemas, requiredBy } from './admits.ts';
import { isSaid } from './fit-words.ts';
import { isList, isRecord, type JsonType } from './json-value.ts';
import type { QuestionWords } from './question-words.ts';
import { namedSchemas, type Schema, type SchemaRoot, schemaOf, schemasOf } from './schema-root.ts';
import { SchemaRefused } from './schema-work.ts';

/** One way to satisfy schemas: a list of such as must all hold, with every choice between them made. */
export type SchemaWorld = {
  readonly schemas: readonly Json[];
  /** The references that were followed, here and on the way here. */
  readonly refs: ReadonlySet<Schema>;
};

/**
 * Every way to satisfy all of some schemas, lazily, those first that a question speaks of, and those last that lead
 * back to where they are. What else must hold, such as that no second branch fits, is left to `admits`.
 */
export function* worldsOf(
  root: SchemaRoot,
  schemas: readonly Schema[],
  options: { readonly refs: ReadonlySet<Schema>; readonly words: QuestionWords },
): Generator<SchemaWorld> {
  const flat = flatten(root, schemas, options.refs);
  if (flat === undefined) return;
  yield* choose(root, flat, options.words);
}

type Flat = SchemaWorld & { readonly choices: readonly (readonly Schema[])[] };

/** Undefined: nothing can satisfy them. */
function flatten(
  root: SchemaRoot,
  schemas: readonly Schema[],
  before: ReadonlySet<Schema>,
): Flat | undefined {
  const refs = new Set(before);
  const flat: Json[] = [];
  const choices: (readonly Schema[])[] = [];
  const waiting = [...schemas];
  let followed = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    root.work.spend();
    if (next === false) return undefined;
    if (next === true) continue;
    if (next.$ref !== undefined) {
      if (++followed > LIMITS.engines.schemaRefs) {
        throw new SchemaRefused('refers to itself without end');
      }
      const target = root.follow(next.$ref);
      refs.add(target);
      waiting.push(target);
    }
    flat.push(next);
    waiting.push(...schemasOf(next.allOf));
    choices.push(...choicesOf(next));
  }
  return { schemas: flat, choices, refs };
}

function choicesOf(schema: Json): (readonly Schema[])[] {
  const choices: (readonly Schema[])[] = [];
  if (isList(schema.anyOf)) choices.push(schemasOf(schema.anyOf));
  if (isList(schema.oneOf)) choices.push(schemasOf(schema.oneOf));
  if (schema.if !== undefined) {
    const when = schemaOf(schema.if);
    choices.push([
      { allOf: [when, schemaOf(schema.then ?? true)] },
      { allOf: [{ not: when }, schemaOf(schema.else ?? true)] },
    ]);
  }
  for (const [name, one] of dependentSchemas(schema)) {
    choices.push([{ properties: { [name]: false } }, one]);
  }
  return choices;
}

function* choose(root: SchemaRoot, flat: Flat, words: QuestionWords): Generator<SchemaWorld> {
  root.work.spend();
  const [first, ...others] = flat.choices;
  if (first === undefined) {
    yield flat;
    return;
  }
  const ranked = first
    .map((branch, at) => ({ branch, at, rank: rankOf(root, branch, { refs: flat.refs, words }) }))
    .sort((a, b) => b.rank - a.rank || a.at - b.at);
  for (const { branch } of ranked) {
    const chosen = flatten(root, [branch], flat.refs);
    if (chosen === undefined) continue;
    const schemas = [...flat.schemas, ...chosen.schemas];
    yield* choose(root, { ...chosen, schemas, choices: [...chosen.choices, ...others] }, words);
  }
}

/** How much of a branch a question names; less than nothing where the branch leads back. */
function rankOf(
  root: SchemaRoot,
  branch: Schema,
  { refs, words }: { readonly refs: ReadonlySet<Schema>; readonly words: QuestionWords },
): number {
  if (typeof branch === 'boolean') return 0;
  if (branch.$ref !== undefined && refs.has(root.follow(branch.$ref))) return -1;
  const target = branch.$ref === undefined ? branch : root.follow(branch.$ref);
  if (typeof target === 'boolean') return 0;
  const members = namedSchemas(target.properties).map(([, one]) => one);
  root.work.spend(1 + members.length);
  return [target, ...members].filter((one) => constantsOf(one).some((text) => isSaid(words, text)))
    .length;
}

const constantsOf = (schema: Schema): readonly string[] => {
  if (typeof schema === 'boolean') return [];
  const values = isList(schema.enum) ? schema.enum : [schema.const];
  return values.filter((value) => typeof value === 'string');
};

const ALL: readonly JsonType[] = [
  ...(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const),
];
/** Schema keywords that make sense for one type alone. */
const TYPE_KEYWORDS: readonly (readonly [JsonType, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties']],
  ['object', ['minProperties', 'propertyNames', 'dependentRequired']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'contains', 'uniqueItems']],
  ['string', ['minLength', 'maxLength', 'pattern', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

/** The types that a value may have in a world, the likeliest first. */
export function typesOf({ schemas }: SchemaWorld): readonly JsonType[] {
  let types: readonly JsonType[] | undefined;
  for (const { type } of schemas) {
    if (type === undefined) continue;
    const said = (isList(type) ? type : [type]) as readonly JsonType[];
    const wide = said.includes('number') ? [...said, 'integer' as const] : said;
    types = types === undefined ? wide : types.filter((one) => wide.includes(one));
  }
  if (types !== undefined) {
    return types.includes('null') ? [...types.filter((one) => one !== 'null'), 'null'] : types;
  }
  const implied = TYPE_KEYWORDS.filter(([, words]) =>
    schemas.some((schema) => words.some((word) => schema[word] !== undefined)),
  ).map(([one]) => one);
  return [...new Set([...implied, 'string' as const, ...ALL])];
}

/** The greatest of what the schemas of a world say under a name, or the least. */
export function boundOf(
  { schemas }: SchemaWorld,
  name: string,
  which: 'greatest' | 'least',
): number | undefined {
  const bounds = schemas.map((schema) => schema[name]).filter((one) => typeof one === 'number');
  if (bounds.length === 0) return undefined;
  return bounds.reduce((a, b) => (which === 'greatest' ? Math.max(a, b) : Math.min(a, b)));
}

/** What a member of an object must be, by all schemas of a world. */
export const membersOf = (
  root: SchemaRoot,
  { schemas }: SchemaWorld,
  name: string,
): readonly Schema[] => schemas.flatMap((schema) => memberSchemas(root, schema, name));

/** The members that a world wants, with those that they bring along. */
export function requiredOf(
  root: SchemaRoot,
  { schemas }: SchemaWorld,
  present: Json = {},
): string[] {
  const names = new Set<string>(Object.keys(present));
  for (let before = -1; before < names.size; ) {
    before = names.size;
    root.work.spend(1 + before);
    const there = Object.fromEntries([...names].map((name) => [name, true]));
    for (const schema of schemas) {
      for (const name of requiredBy(schema, there)) names.add(name);
    }
  }
  return [...names];
}

/** The members that the schemas of a world name, in their order. */
export const namedBy = ({ schemas }: SchemaWorld): readonly string[] => [
  ...new Set(
    schemas.flatMap(({ properties }) => (isRecord(properties) ? Object.keys(properties) : [])),
  ),
];
