/** A process and the epoch of its lease. Holds and sessions are opened in its name. */
export type Node = { readonly nodeId: string; readonly leaseEpoch: number };
