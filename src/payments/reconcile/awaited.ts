/** A wallet whose balance did not cover its credits, and the blocks that showed them. */
export type AwaitedWallet = {
  readonly agentId: number;
  /** Lower case. */
  readonly wallet: string;
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Retries that credited nothing. */
  readonly looks: number;
};

/** A wallet by the book. */
export type WalletBook = {
  readonly walletRaw: bigint;
  /** Amount that the wallet lacks against its book and that an alarm has reported; 0 without an alarm. */
  readonly missingRaw: bigint;
  /** Earlier credits of the wallet wait. */
  readonly isWaiting: boolean;
};

/** Keeps the wallets whose credits wait, one row each, over restarts. */
export interface AwaitedStore {
  findBooks(agentIds: readonly number[]): Promise<ReadonlyMap<number, WalletBook>>;
  /** Has credits of these blocks wait. Returns the agents for which a block is new. */
  add(
    waits: readonly { readonly agentId: number; readonly blockNumber: number }[],
  ): Promise<ReadonlySet<number>>;
  /** Wallets whose retry is due, the longest due first. */
  findDue(limit: number): Promise<readonly AwaitedWallet[]>;
  /** Ends the wait, unless blocks were added since the wallet was read: then it is retried at once. */
  close(wallet: AwaitedWallet): Promise<void>;
  postpone(wallet: AwaitedWallet, afterMs: number): Promise<void>;
}
