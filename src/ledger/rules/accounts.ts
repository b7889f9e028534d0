/** What an agent may spend now, and what is set aside for work in flight. Neither goes below zero. */
export type AgentAccount = `agent:${number}:spendable` | `agent:${number}:held`;

/** Where consumed money went: the rail that took it. */
export type SpendAccount = 'gateway' | 'marketplace' | 'telephony' | 'byok' | 'chain:usdc';

/** Everything beyond the agents. These may have either sign. */
export type OutsideAccount =
  | 'funding'
  | 'withdrawn'
  | SpendAccount
  | `credit:${string}`
  | `shortfall:${string}`;

export type Account = AgentAccount | OutsideAccount;

export const spendable = (agentId: number): AgentAccount => `agent:${agentId}:spendable`;
export const held = (agentId: number): AgentAccount => `agent:${agentId}:held`;
