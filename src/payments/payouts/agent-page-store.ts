import type { AgentPage } from '../../accounts/wallets/sweep-agents.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { PAYMENT_LIMITS } from '../limits.ts';

/** Bounds of one pass: the number of agents that it reads, and the number of matching agents that it returns. */
export type PageBounds = { readonly looked: number; readonly found: number };

/** A closed agent whose balance is to be paid out. */
export type ClosedAgent = {
  readonly id: number;
  readonly accountId: string;
  readonly walletAddress: string | null;
};

/**
 * Returns a page of closed agents with money and without open holds. Goes through the agents by their ids, so that a pass costs
 * the same however many there are.
 */
export async function findClosedWithMoney(
  sql: Queryable,
  after: number,
  bounds: PageBounds = PAYMENT_LIMITS.payout.emptyPass,
): Promise<AgentPage<ClosedAgent>> {
  const last = await lastOfPage(sql, after, bounds);
  const found = await sql<ClosedAgent[]>`
    select a.id, a.account_id as "accountId", a.wallet_address as "walletAddress"
    from agents a join agent_funds f on f.agent_id = a.id
    where a.id > ${after} and a.id <= ${last.id} and a.status = 'closed'
      and f.spendable_raw > 0 and f.held_raw = 0
    order by a.id limit ${bounds.found}`;
  return pageOf(found, last, bounds);
}

/** A wallet whose balance is above the claims of its agent and of its payments' payees. */
export type Surplus = { readonly id: number; readonly wallet: string };

/** Returns a page of wallets that are worth a sweep to the treasury, without wallets that wait for their sweep. */
export async function findSurplus(
  sql: Queryable,
  after: number,
  treasury: string,
  bounds: PageBounds = PAYMENT_LIMITS.payout.sweepPass,
): Promise<AgentPage<Surplus>> {
  const last = await lastOfPage(sql, after, bounds);
  const found = await sql<Surplus[]>`
    select a.id, a.wallet_address as wallet
    from agent_funds f join agents a on a.id = f.agent_id
    where f.agent_id > ${after} and f.agent_id <= ${last.id}
      and f.wallet_raw - f.promised_raw - f.spendable_raw - f.held_raw >= ${PAYMENT_LIMITS.payout.sweepLeastRaw.toString()}::bigint
      and a.wallet_address is not null and a.wallet_address <> ${treasury}
      and not exists (select 1 from payouts p
        where p.agent_id = f.agent_id and p.kind = 'sweep' and p.state <> 'done')
    order by f.agent_id limit ${bounds.found}`;
  return pageOf(found, last, bounds);
}

type Last = { readonly id: number; readonly isEnd: boolean };

async function lastOfPage(sql: Queryable, after: number, { looked }: PageBounds): Promise<Last> {
  const [row] = await sql<{ last: number | null; seen: number }[]>`
    select max(id) as last, count(*)::int as seen
    from (select id from agents where id > ${after} order by id limit ${looked}) as page`;
  return { id: row?.last ?? after, isEnd: (row?.seen ?? 0) < looked };
}

/**
 * Makes a page of the agents found. When `bounds.found` cut the list, the next page begins behind the last agent
 * returned.
 */
function pageOf<T extends { readonly id: number }>(
  found: readonly T[],
  last: Last,
  bounds: PageBounds,
): AgentPage<T> {
  const cut = found.length === bounds.found ? found.at(-1)?.id : undefined;
  return { found, nextAfter: cut ?? (last.isEnd ? 0 : last.id) };
}

/** Returns the version of an agent's balance. The version rises with every withdrawal, so it can name a withdrawal. */
export async function findFundsVersion(sql: Queryable, agentId: number): Promise<bigint> {
  const [row] = await sql<{ version: bigint }[]>`
    select version from agent_funds where agent_id = ${agentId}`;
  return row?.version ?? 0n;
}
