import type { Authorization, TokenDomain } from '../../x402/authorization.ts';

/** The service that holds the agents' wallets. It never reveals a private key. */
export interface ManagedWallets {
  /**
   * Resolves with the wallet address of a reference (`<accountId>:<agentId>`) in lower case. Creates the wallet at the first
   * call, and returns the same wallet ever after; rejects when it cannot be created.
   */
  provide(reference: string): Promise<string>;
  /**
   * Signs a transfer out of that wallet: 65 bytes in 0x hex, which are verified as the wallet's own. Rejects when the wallet is
   * not `authorization.from`, and when its provider fails.
   */
  signTransfer(
    reference: string,
    domain: TokenDomain,
    authorization: Authorization,
  ): Promise<string>;
}

export const walletReference = (agent: { readonly accountId: string; readonly id: number }) =>
  `${agent.accountId}:${agent.id}`;
