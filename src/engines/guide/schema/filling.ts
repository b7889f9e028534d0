import type { QuestionWords } from './question-words.ts';
import type { Schema, SchemaRoot } from './schema-root.ts';
import type { SchemaWorld } from './schema-world.ts';

/** Where a value stands. */
export type Place = {
  readonly name: string;
  /** As the refusal of a schema names it: `address.street`. */
  readonly path: string;
  readonly depth: number;
  /** The references that were followed on the way. */
  readonly refs: ReadonlySet<Schema>;
  /** Values that are taken: items of a list may have to differ. */
  readonly avoid: readonly unknown[];
};

/** A value for a place, and whether the question names it. */
export type Filled = { readonly value: unknown; readonly isMeant: boolean };

/** Fills any place of a value: the whole, a member or an item. */
export interface Filling {
  readonly root: SchemaRoot;
  readonly words: QuestionWords;
  /** The first value that all of the schemas take. Undefined where there is none. */
  fill(schemas: readonly Schema[], place: Place): Filled | undefined;
  /** Whether a schema refers to one that was followed on the way. */
  leadsBack(schema: Schema, refs: ReadonlySet<Schema>): boolean;
}

/** A place for which one way to satisfy its schemas was chosen. */
export type Spot = {
  readonly filling: Filling;
  readonly world: SchemaWorld;
  readonly place: Place;
};
