import { type Schema as Judged, Validator } from '@cfworker/json-schema';
import { isObject, type Json } from '../../kernel/json.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { TimeOver, withinTime } from '../threads/within-time.ts';
import { type Heard, HeardValues } from './heard-values.ts';

const { schemaDepth, schemaMs, schemaNodes } = ENGINE_LIMITS.guide;
const REASON_CHARS = 120;
const TOO_MUCH = 'takes too much work to satisfy';

/** Thrown when the guide cannot fill a schema. Its message is appended to the name of the schema. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';

  constructor(reason: string, path = '') {
    super(path === '' ? reason : `${reason} at ${path.slice(0, REASON_CHARS)}`);
  }
}

/**
 * Makes a value for a JSON schema (draft 2020-12, and lists of `items` of draft 7): required members by `const`, `enum`,
 * `default`, `format` and `type`, with the heard words and numbers when they fit. A member that may be null is null. The same
 * input gives the same value, and a validator checks the value. Throws SchemaRefused when the value is invalid, or when the
 * schema cannot be read or takes longer than `schemaMs`.
 */
export function fillSchema(schema: unknown, heard: Heard, type?: 'object'): unknown {
  try {
    return withinTime(schemaMs, () => {
      const root = schemaOf(schema);
      const filler = new Filler(root, new HeardValues(heard));
      const typed = type === undefined ? root : merged(root, { type });
      const value = filler.fill(typed, { name: '', path: '', refs: [] });
      judge(root, value);
      return value;
    });
  } catch (error) {
    if (error instanceof SchemaRefused) throw error;
    if (error instanceof TimeOver || error instanceof RangeError) throw new SchemaRefused(TOO_MUCH);
    const reason = error instanceof Error ? error.message : String(error);
    throw new SchemaRefused(`cannot be read: ${reason.split('\n')[0]?.slice(0, REASON_CHARS)}`);
  }
}

function judge(schema: Schema, value: unknown): void {
  const text = JSON.stringify(schema);
  const unknown = /"\$(?:dynamic|recursive)Ref"/.exec(text)?.[0];
  if (unknown !== undefined) throw new SchemaRefused(`has ${unknown}, which is not understood`);
  const draft = text.includes('"items":[') ? '7' : '2020-12';
  const { errors, valid } = new Validator(schema as Judged | boolean, draft).validate(value);
  if (valid) return;
  const path = errors.at(-1)?.instanceLocation.slice(2).replaceAll('/', '.');
  throw new SchemaRefused('is satisfied by no value that is known here', path);
}

type Schema = boolean | Json;
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isRecord = (value: unknown): value is Json => isObject(value) && !isList(value);

function schemaOf(value: unknown): Schema {
  if (typeof value === 'boolean' || isRecord(value)) return value;
  throw new SchemaRefused('has something else where a schema belongs');
}

const schemasOf = (list: unknown): Schema[] => (isList(list) ? list.map(schemaOf) : []);

/** Merges two schemas, with the members of `properties` and the names of `required` of both schemas. */
function merged(one: Schema, other: Schema): Schema {
  if (one === true || other === false) return other;
  if (other === true || one === false) return one;
  const properties = { ...(one.properties as Json) };
  for (const [name, schema] of Object.entries(other.properties ?? {})) {
    properties[name] = merged(schemaOf(properties[name] ?? true), schemaOf(schema));
  }
  const required = [one.required, other.required].flatMap((list) => (isList(list) ? list : []));
  return { ...one, ...other, properties, required: [...new Set(required)] };
}

type Place = {
  /** Name of the member that is filled. */
  readonly name: string;
  readonly path: string;
  /** Schemas of the references that lead here. */
  readonly refs: readonly Schema[];
};

class Filler {
  readonly #root: Schema;
  readonly #heard: HeardValues;
  #nodes = 0;

  constructor(root: Schema, heard: HeardValues) {
    this.#root = root;
    this.#heard = heard;
  }

  fill(schema: Schema, place: Place): unknown {
    if (++this.#nodes > schemaNodes || place.refs.length > schemaDepth) {
      throw new SchemaRefused(TOO_MUCH);
    }
    if (schema === true) return this.#heard.text({}, place.name);
    if (schema === false) {
      throw new SchemaRefused('is satisfied by no value that is known here', place.path);
    }
    if (Object.hasOwn(schema, 'const')) return schema.const;
    if (isList(schema.enum)) return this.#heard.oneOf(schema.enum, schema.default);
    if (Object.hasOwn(schema, 'default')) return schema.default;
    const { $ref, allOf, anyOf, oneOf, ...plain } = schema;
    if ($ref !== undefined) {
      const target = this.#follow($ref);
      if (place.refs.includes(target)) {
        throw new SchemaRefused('refers to itself without end', place.path);
      }
      const { $ref: _, ...beside } = schema;
      return this.fill(merged(target, beside), { ...place, refs: [...place.refs, target] });
    }
    if (isList(allOf)) {
      const { allOf: _, ...beside } = schema;
      return this.fill(schemasOf(allOf).reduce<Schema>(merged, beside), place);
    }
    const branches = schemasOf(anyOf ?? oneOf).map((branch) => merged(plain, branch));
    return branches.length > 0 ? this.#firstOf(branches, place) : this.#ofType(plain, place);
  }

  /** Null where a branch is that, or else the value of the first branch that can be filled. */
  #firstOf(branches: readonly Schema[], place: Place): unknown {
    const isNull = (one: Schema) => isRecord(one) && one.type === 'null';
    if (place.path !== '' && branches.some(isNull)) return null;
    let refused: unknown;
    for (const branch of branches) {
      try {
        return this.fill(branch, place);
      } catch (error) {
        refused ??= error;
      }
    }
    throw refused;
  }

  #ofType(schema: Json, place: Place): unknown {
    const types = isList(schema.type) ? schema.type : [schema.type ?? typeOf(schema)];
    const type = place.path !== '' && types.includes('null') ? 'null' : types[0];
    switch (type) {
      case 'object':
        return this.#object(schema, place);
      case 'array':
        return this.#list(schema, place);
      case 'number':
      case 'integer':
        return this.#heard.number(schema, type === 'integer');
      case 'boolean':
        return false;
      case 'null':
        return null;
      default:
        return this.#heard.text(schema, place.name);
    }
  }

  #object(
    { additionalProperties = true, properties, required }: Json,
    { path, refs }: Place,
  ): Json {
    const members = isRecord(properties) ? properties : {};
    const names = isList(required) ? required.map(String) : [];
    return Object.fromEntries(
      names.map((name) => {
        const member = Object.hasOwn(members, name) ? members[name] : additionalProperties;
        const at = path === '' ? name : `${path}.${name}`;
        return [name, this.fill(schemaOf(member), { name, path: at, refs })];
      }),
    );
  }

  /** Returns a list of the fewest allowed items, but of at least one item unless the schema forbids items. */
  #list({ items, maxItems, minItems, prefixItems }: Json, { name, path, refs }: Place): unknown[] {
    const byPlace = schemasOf(prefixItems ?? items);
    const rest = isList(items) ? true : schemaOf(items ?? true);
    const least = Math.max(Number(minItems ?? 0), byPlace.length, rest === false ? 0 : 1);
    const length = Math.min(least, Number(maxItems ?? least));
    if (length > schemaNodes) throw new SchemaRefused(TOO_MUCH);
    return Array.from({ length }, (_, i) =>
      this.fill(byPlace[i] ?? rest, { name, path: `${path}[${i}]`, refs }),
    );
  }

  #follow(ref: unknown): Schema {
    const [start, ...parts] = String(ref).split('/');
    let found: unknown = start === '#' ? this.#root : undefined;
    for (const part of parts) {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
    }
    if (found !== undefined) return schemaOf(found);
    const told = String(ref).slice(0, REASON_CHARS);
    throw new SchemaRefused(`refers to something that it does not have: ${told}`);
  }
}

function typeOf({ items, prefixItems, properties, required }: Json): string {
  if (properties !== undefined || required !== undefined) return 'object';
  return items !== undefined || prefixItems !== undefined ? 'array' : 'string';
}
