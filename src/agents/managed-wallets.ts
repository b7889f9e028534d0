/** Who holds the agents' wallets. Private keys never come out of it. */
export interface ManagedWallets {
  /**
   * The wallet of a reference (`<accountId>:<agentId>`), made at the first call; the same reference
   * finds the same wallet ever after. Answers its address in lower case; rejects when it cannot be made.
   */
  provide(reference: string): Promise<string>;
}

export const walletReference = (agent: { readonly accountId: string; readonly id: number }) =>
  `${agent.accountId}:${agent.id}`;
