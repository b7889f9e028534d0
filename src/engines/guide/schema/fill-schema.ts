import { LIMITS } from '../../../kernel/limits.ts';
import { admits } from './admits.ts';
import { listsOf } from './fill-list.ts';
import { numbersOf } from './fill-number.ts';
import { objectsOf } from './fill-object.ts';
import { textsOf } from './fill-text.ts';
import type { Filled, Filling, Place } from './filling.ts';
import { type Candidate, fitNumbers, fitSwitch, isSaid } from './fit-words.ts';
import { isList, isOfType, isSame, type JsonType } from './json-value.ts';
import type { QuestionWords } from './question-words.ts';
import { type Schema, SchemaRoot, schemaOf } from './schema-root.ts';
import { SchemaRefused } from './schema-work.ts';
import { type SchemaWorld, typesOf, worldsOf } from './schema-world.ts';

/**
 * A value that a schema describes, the same to the same: what must be there, of what the question names where that
 * fits, and what may be there where the question names it. Throws SchemaRefused where there is none, or none is found
 * within the work that one schema may take; its message goes on behind the name of the schema.
 */
export function fillSchema(schema: unknown, words: QuestionWords, type?: JsonType): unknown {
  const root = new SchemaRoot(schema);
  const filler = new Filler(root, words);
  const place = { name: '', path: '', depth: 0, refs: new Set([root.schema]), avoid: [] };
  let filled: Filled | undefined;
  try {
    filled = filler.fill(type === undefined ? [root.schema] : [root.schema, { type }], place);
  } catch (error) {
    // Stack overflow: how deep a value may nest cannot be known beforehand.
    if (error instanceof RangeError) throw new SchemaRefused('takes too much work to satisfy');
    throw error;
  }
  if (filled !== undefined) return filled.value;
  const at = filler.impossible === '' ? '' : ` at ${filler.impossible.slice(0, PATH_CHARS)}`;
  throw new SchemaRefused(`is satisfied by no value that is known here${at}`);
}

const PATH_CHARS = 100;
const MOST_EXAMPLES = 8;

class Filler implements Filling {
  readonly root: SchemaRoot;
  readonly words: QuestionWords;
  readonly #taken = new Set<string>();
  #impossible = { path: '', depth: -1 };

  constructor(root: SchemaRoot, words: QuestionWords) {
    this.root = root;
    this.words = words;
  }

  /** The deepest place that nothing was found for. */
  get impossible(): string {
    return this.#impossible.path;
  }

  fill(schemas: readonly Schema[], place: Place): Filled | undefined {
    this.root.work.spend();
    const { avoid, depth, path } = place;
    const isRight = (value: unknown) => {
      this.root.work.spend(avoid.length / 8);
      return (
        !avoid.some((other) => isSame(other, value)) &&
        schemas.every((schema) => admits(this.root, schema, value))
      );
    };
    const isTooDeep = depth > LIMITS.engines.schemaDepth;
    const filled = isTooDeep ? undefined : this.#search(schemas, place, isRight);
    if (filled === undefined && depth > this.#impossible.depth) this.#impossible = { path, depth };
    return filled;
  }

  leadsBack(schema: Schema, refs: ReadonlySet<Schema>): boolean {
    this.root.work.spend();
    if (typeof schema === 'boolean') return false;
    if (schema.$ref !== undefined) return refs.has(this.root.follow(schema.$ref));
    const branches = [schema.anyOf, schema.oneOf].flatMap((list) => (isList(list) ? list : []));
    return branches.some((branch) => this.leadsBack(schemaOf(branch), refs));
  }

  /** A place that may be null is null where the question names nothing for it, and where its schema recurs. */
  #search(
    schemas: readonly Schema[],
    place: Place,
    isRight: (value: unknown) => boolean,
  ): Filled | undefined {
    const { root, words } = this;
    const { refs } = place;
    const nothing = place.depth > 0 && isRight(null) ? { value: null, isMeant: false } : undefined;
    if (nothing !== undefined && schemas.some((one) => this.leadsBack(one, refs))) return nothing;
    const mostTries = LIMITS.engines.schemaTries + 2 * place.avoid.length;
    for (const world of worldsOf(root, schemas, { refs, words })) {
      let tries = 0;
      for (const { isMeant, takes, value } of this.#candidates(world, place)) {
        if (++tries > mostTries || (nothing !== undefined && !isMeant)) break;
        if ((takes !== undefined && this.#taken.has(takes)) || !isRight(value)) continue;
        if (takes !== undefined) this.#taken.add(takes);
        return { value, isMeant };
      }
    }
    return nothing;
  }

  *#candidates(world: SchemaWorld, place: Place): Generator<Candidate> {
    const { schemas } = world;
    const fixed = schemas.find((one) => Object.hasOwn(one, 'const') || isList(one.enum));
    if (fixed !== undefined) return yield* this.#listed(fixed, place);
    const usual = schemas.filter((one) => Object.hasOwn(one, 'default'));
    for (const type of usual.length === 0 ? [] : typesOf(world)) {
      for (const one of this.#ofType(type, world, place)) {
        if (!one.isMeant) break;
        yield one;
      }
    }
    for (const { default: value } of usual) yield { value, isMeant: false };
    for (const type of typesOf(world)) yield* this.#ofType(type, world, place);
  }

  /** The values of an enumeration: first what the question says, then the default, then the others in order. */
  *#listed(schema: SchemaWorld['schemas'][number], { path }: Place): Generator<Candidate> {
    const values = Object.hasOwn(schema, 'const') ? [schema.const] : (schema.enum as unknown[]);
    this.root.work.spend(values.length);
    const place = path.replace(/\[\d+\]/g, '');
    for (const value of values.length > 1 ? values : []) {
      if (!isSaid(this.words, String(value))) continue;
      yield { value, isMeant: true, takes: `one ${place} ${String(value)}` };
    }
    const usual = values.filter((one) => isSame(one, schema.default));
    for (const value of [...usual, ...values]) yield { value, isMeant: false };
  }

  *#ofType(type: JsonType, world: SchemaWorld, place: Place): Generator<Candidate> {
    const { name } = place;
    const { words } = this;
    const spot = { filling: this, world, place };
    switch (type) {
      case 'object':
        return yield* objectsOf(spot);
      case 'array':
        return yield* listsOf(spot);
      case 'string':
        return yield* textsOf(this.root, world, {
          name,
          words,
          examples: this.#examples(world, type),
        });
      case 'number':
      case 'integer':
        yield* fitNumbers(words, name);
        yield* this.#examples(world, type);
        for (const value of numbersOf(world, type === 'integer')) yield { value, isMeant: false };
        return;
      case 'boolean': {
        const asked = fitSwitch(words, name);
        if (asked !== undefined) yield { value: asked, isMeant: true, takes: `switch ${name}` };
        return yield* [false, true].map((value) => ({ value, isMeant: false }));
      }
      case 'null':
        yield { value: null, isMeant: false };
    }
  }

  #examples({ schemas }: SchemaWorld, type: JsonType): Candidate[] {
    return schemas
      .flatMap(({ examples }) => (isList(examples) ? examples.slice(0, MOST_EXAMPLES) : []))
      .filter((one) => isOfType(one, type))
      .map((value) => ({ value, isMeant: false }));
  }
}
