/** What an event of the chain changed in the books; nothing of it was known before. */
export type Applied = {
  readonly kind: 'deposit' | 'settled' | 'voided' | 'corrected' | 'paid';
  readonly agentId: number;
  /** Of the authorization; null for a deposit. */
  readonly nonce: string | null;
  readonly blockNumber: number;
};
