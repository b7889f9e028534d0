import type { QuestionWords } from './question-words.ts';
import type { Schema, SchemaRoot } from './schema-root.ts';
import type { World } from './schema-world.ts';

/** Where a value stands. */
export type Place = {
  readonly name: string;
  /** As it is told: `address.street`. */
  readonly path: string;
  readonly depth: number;
  /** The references that were followed on the way. */
  readonly refs: ReadonlySet<Schema>;
  /** Values that it must not have again. */
  readonly avoid: readonly unknown[];
};

/** A value for a place, and whether the question names it. */
export type Filled = { readonly value: unknown; readonly isMeant: boolean };

/** What fills the parts of a value, as it fills the whole. */
export interface Filling {
  readonly root: SchemaRoot;
  readonly words: QuestionWords;
  /** The first value that all of the schemas take. Undefined where there is none. */
  fill(schemas: readonly Schema[], place: Place): Filled | undefined;
  /** Whether a schema refers to one that was followed on the way. */
  leadsBack(schema: Schema, refs: ReadonlySet<Schema>): boolean;
}

/** A place for which one way to satisfy its schemas was chosen. */
export type Spot = { readonly filling: Filling; readonly world: World; readonly place: Place };
