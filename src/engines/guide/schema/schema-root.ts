import { isObject, type Json } from '../../../kernel/json.ts';
import { isList, isRecord } from './json-value.ts';
import { matchesPattern } from './match-pattern.ts';
import { type PatternNode, readPattern } from './pattern-tree.ts';
import { SchemaRefused, SchemaWork } from './schema-work.ts';

/** `true` takes anything, and `false` nothing. */
export type Schema = boolean | Json;

/** What is in use now and then, and neither kept here nor passed over. */
const NOT_UNDERSTOOD = ['$dynamicRef', '$recursiveRef', 'unevaluatedItems'] as const;

/** A schema with what its parts refer to, and what is left of the work that it may take. */
export class SchemaRoot {
  readonly work = new SchemaWork();
  readonly #root: Schema;
  readonly #patterns = new Map<string, PatternNode>();
  #anchors: ReadonlyMap<string, Schema> | undefined;

  constructor(root: unknown) {
    this.#root = schemaOf(root);
  }

  get schema(): Schema {
    return this.#root;
  }

  /** What a reference leads to. Throws SchemaRefused where that is not in this schema. */
  follow(ref: unknown): Schema {
    this.work.spend();
    if (typeof ref !== 'string') throw new SchemaRefused('has a reference that is no text');
    const own = isRecord(this.#root) ? this.#root.$id : undefined;
    const inside = typeof own === 'string' && ref.startsWith(own) ? ref.slice(own.length) : ref;
    if (inside === '' || inside === '#') return this.#root;
    if (!inside.startsWith('#')) throw new SchemaRefused('refers to something outside of it');
    const found = inside.startsWith('#/')
      ? pointed(this.#root, inside.slice(2))
      : this.#anchored(inside.slice(1));
    if (found === undefined) throw new SchemaRefused('refers to something that it does not have');
    return found;
  }

  /** Whether a pattern of this schema is found in a text. */
  matches(pattern: string, text: string): boolean {
    return matchesPattern(this.pattern(pattern), text, this.work);
  }

  pattern(source: string): PatternNode {
    let read = this.#patterns.get(source);
    if (read === undefined) {
      this.work.spend(1 + source.length / 8);
      read = readPattern(source);
      this.#patterns.set(source, read);
    }
    return read;
  }

  #anchored(name: string): Schema | undefined {
    this.#anchors ??= anchorsOf(this.#root, this.work);
    return this.#anchors.get(name);
  }
}

/** What stands where a schema is wanted. Throws SchemaRefused where that is none. */
export function schemaOf(value: unknown): Schema {
  if (typeof value === 'boolean') return value;
  if (!isRecord(value)) throw new SchemaRefused('has something else where a schema belongs');
  const strange = NOT_UNDERSTOOD.find((word) => value[word] !== undefined);
  if (strange !== undefined) throw new SchemaRefused(`says ${strange}, which is not understood`);
  return value;
}

/** The schemas of a list; none where there is no list. */
export const schemasOf = (value: unknown): readonly Schema[] =>
  isList(value) ? value.map(schemaOf) : [];

/** The schemas by name of an object of them; none where there is no object. */
export const namedSchemas = (value: unknown): readonly (readonly [string, Schema])[] =>
  isRecord(value) ? Object.entries(value).map(([name, of]) => [name, schemaOf(of)]) : [];

function pointed(root: Schema, path: string): Schema | undefined {
  let at: unknown = root;
  for (const part of path.split('/')) {
    const name = unescaped(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return schemaOf(at);
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function anchorsOf(root: Schema, work: SchemaWork): ReadonlyMap<string, Schema> {
  const anchors = new Map<string, Schema>();
  const waiting: unknown[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    work.spend();
    if (!isObject(next)) continue;
    if (isRecord(next) && typeof next.$anchor === 'string') anchors.set(next.$anchor, next);
    for (const value of Object.values(next)) if (isObject(value)) waiting.push(value);
  }
  return anchors;
}
