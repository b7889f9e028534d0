/** Whose holds and sessions these will be. */
export type Node = { readonly nodeId: string; readonly leaseEpoch: number };
