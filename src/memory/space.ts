import type { MetadataSchema } from './memory-shape.ts';

/** Namespace of an agent's store, as read at the start of the operation. */
export type Space = {
  readonly id: number;
  readonly agentId: number;
  /** Null for the default namespace. */
  readonly subTenant: string | null;
  readonly model: string;
  readonly dims: number;
  readonly version: number;
  /** A copy that was loaded at an older version is loaded anew, because removals before this version are forgotten. */
  readonly forgottenVersion: number;
  /** The namespace's own schema, or the schema of the default namespace. */
  readonly schema: MetadataSchema;
};
