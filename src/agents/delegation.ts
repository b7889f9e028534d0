/** What an operator may do for an agent's wallet, as the matcher contract keeps it. */
export type OperatorPermission = {
  readonly agentId: number;
  readonly wallet: string;
  readonly borrowLimitRaw: bigint;
  readonly maxRateBps: number;
  /** Unix seconds. */
  readonly expiry: number;
};

/** Lets the facilitator borrow for an agent, within bounds, into the agent's own wallet only. */
export interface Delegation {
  /** Grants the permission, replacing an earlier one; answers the hash that proves it, or rejects. */
  grant(permission: OperatorPermission): Promise<string>;
}
