import type { Queryable } from '../../platform/postgres/sql.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';

/** Result of provisioning an agent, written once it is complete. */
export type Provisioned = {
  readonly walletAddress: string;
  readonly operatorExpiry: number;
  readonly delegationTxHash: string | null;
};

/** Activates an agent with its wallet. Returns false when the agent no longer waits for provisioning. */
export async function activateAgent(
  tx: Queryable,
  agentId: number,
  provisioned: Provisioned,
  now: Date,
): Promise<boolean> {
  const rows = await tx`
    update agents set status = 'active', wallet_address = ${provisioned.walletAddress},
      operator_expiry = ${provisioned.operatorExpiry},
      delegation_tx_hash = ${provisioned.delegationTxHash}, provision_next_at = null,
      updated_at = ${now}
    where id = ${agentId} and status = 'pending_delegation'
    returning id
  `;
  return rows.length > 0;
}

/** Stores the wallet of an agent before its delegation exists, because funds may arrive in the wallet already. */
export async function saveWallet(
  sql: Queryable,
  agentId: number,
  walletAddress: string,
): Promise<void> {
  await sql`
    update agents set wallet_address = ${walletAddress}
    where id = ${agentId} and status = 'pending_delegation'
  `;
}

/** Counts a failed attempt at provisioning and stores the time of the next attempt. */
export async function postponeProvision(
  sql: Queryable,
  agentId: number,
  nextAt: Date,
): Promise<void> {
  await sql`
    update agents set provision_attempts = provision_attempts + 1, provision_next_at = ${nextAt}
    where id = ${agentId} and status = 'pending_delegation'
  `;
}

export type DueProvision = { readonly agentId: number; readonly attempts: number };

/**
 * Claims a bounded batch of agents whose provisioning is due, until the lease ends. A pending agent without a due time was
 * given up by an earlier version, and is due after the others.
 */
export async function claimProvisions(
  sql: Queryable,
  now: Date,
  leasedUntil: Date,
): Promise<DueProvision[]> {
  const rows = await sql<{ id: number; provision_attempts: number }[]>`
    update agents set provision_next_at = ${leasedUntil}
    where id in (
      select id from agents where status = 'pending_delegation'
        and (provision_next_at <= ${now} or provision_next_at is null)
      order by provision_next_at limit ${ACCOUNT_LIMITS.provisioning.batch} for update skip locked
    )
    returning id, provision_attempts
  `;
  return rows.map((row) => ({ agentId: row.id, attempts: row.provision_attempts }));
}
