import type { EventRow } from '../ledger/rules/companion.ts';

/** Account of an event, and the wallet that caused it. */
type Origin = { readonly accountId: string; readonly actorWallet: string };

type NewAgent = {
  readonly agentId: number;
  readonly name: string;
  readonly walletAddress: string;
  readonly fundingMode: string;
  readonly delegationTxHash: string | null;
};

/** Builds `agent.created`. From this event on the agent may spend. */
export function agentCreated(origin: Origin, agent: NewAgent): EventRow {
  return {
    name: 'agent.created',
    accountId: origin.accountId,
    agentWallet: agent.walletAddress,
    correlationId: null,
    payload: {
      agentId: agent.agentId,
      name: agent.name,
      agentWalletAddress: agent.walletAddress,
      managedWalletAddress: agent.walletAddress,
      fundingMode: agent.fundingMode,
      delegationTxHash: agent.delegationTxHash,
      status: 'active',
      actorWallet: origin.actorWallet,
    },
  };
}

export type EventKey = {
  readonly keyId: number;
  readonly keyPrefix: string;
  readonly label: string | null;
  /** Absent for a developer key, whose events reach global webhooks only. */
  readonly agent?: { readonly agentId: number; readonly walletAddress: string | null };
};

/** Builds `key.created`. The event names the key by its prefix, and never contains the secret. */
export const keyCreated = (origin: Origin, key: EventKey): EventRow =>
  keyEvent('key.created', origin, key, {});

/** Builds `key.rotated`. The old key stopped working in the same commit. */
export const keyRotated = (origin: Origin, key: EventKey, rotatedFromKeyId: number): EventRow =>
  keyEvent('key.rotated', origin, key, { rotatedFromKeyId });

function keyEvent(
  name: string,
  origin: Origin,
  key: EventKey,
  more: Readonly<Record<string, unknown>>,
): EventRow {
  const { agent } = key;
  return {
    name,
    accountId: origin.accountId,
    agentWallet: agent?.walletAddress ?? null,
    correlationId: null,
    payload: {
      keyId: key.keyId,
      ...more,
      keyType: agent === undefined ? 'developer' : 'agent',
      keyPrefix: key.keyPrefix,
      label: key.label,
      status: 'active',
      ...(agent && { agentId: agent.agentId, agentWalletAddress: agent.walletAddress }),
      actorWallet: origin.actorWallet,
    },
  };
}
