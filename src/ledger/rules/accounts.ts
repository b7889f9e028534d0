/**
 * Accounts of one agent: the money that it may spend now, and the money held for work in progress. No account is ever negative.
 */
export type AgentAccount = `agent:${number}:spendable` | `agent:${number}:held`;

/** Accounts of consumed money, one for each rail. */
export type SpendAccount = 'gateway' | 'marketplace' | 'telephony' | 'byok' | 'chain:usdc';

/** Accounts other than the agents' accounts. Their balances may have either sign. */
export type OutsideAccount =
  | 'funding'
  | 'withdrawn'
  | SpendAccount
  | `credit:${string}`
  | `shortfall:${string}`;

export type Account = AgentAccount | OutsideAccount;

export const spendable = (agentId: number): AgentAccount => `agent:${agentId}:spendable`;
export const held = (agentId: number): AgentAccount => `agent:${agentId}:held`;
