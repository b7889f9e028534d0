/** A change that one event of the chain made in the books for the first time. */
export type Applied = {
  readonly kind: 'deposit' | 'settled' | 'voided' | 'corrected' | 'paid';
  readonly agentId: number;
  /** Nonce of the authorization; null for a deposit. */
  readonly nonce: string | null;
  readonly blockNumber: number;
};
