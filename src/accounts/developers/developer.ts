/** The account of a wallet. The first sign-in of the wallet creates it. */
export type Developer = {
  readonly accountId: string;
  /** Address in lower case. */
  readonly wallet: string;
  readonly displayName: string | null;
  readonly email: string | null;
  readonly createdAt: Date;
  /** Generation of the account's session tokens. Ending all sessions raises it, which invalidates all earlier tokens. */
  readonly sessionGeneration: number;
  /** First time that a tool for AI clients acted for the account. Null: none has. */
  readonly aiToolConnectedAt: Date | null;
};

/** Returns the account as routes show it. */
export const developerRecord = (developer: Developer) => ({
  walletAddress: developer.wallet,
  displayName: developer.displayName,
  email: developer.email,
  accountId: developer.accountId,
  createdAt: developer.createdAt.toISOString(),
});
