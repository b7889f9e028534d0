import type { MetadataSchema } from './memory-shape.ts';

/** A namespace of an agent's store, as it was a moment ago. */
export type Space = {
  readonly id: number;
  readonly agentId: number;
  /** Null: the default namespace. */
  readonly subTenant: string | null;
  readonly model: string;
  readonly dims: number;
  readonly version: number;
  /** What is loaded at an older version than this is loaded anew: removals before it are not known any more. */
  readonly forgottenVersion: number;
  /** Its own, or that of the default namespace. */
  readonly schema: MetadataSchema;
};
