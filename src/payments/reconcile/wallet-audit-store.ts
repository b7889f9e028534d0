import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type {
  AuditState,
  AuditStore,
  BookedWallet,
  Difference,
  LookedAt,
  NewDifference,
} from './wallet-audit.ts';

/** Name of the only chain whose audit is stored. */
const CHAIN = 'base';

type StateRow = {
  from_block: bigint;
  to_block: bigint;
  after_agent_id: number | null;
  reread_from: bigint | null;
  is_due: boolean;
};

async function findState(sql: Queryable): Promise<AuditState | undefined> {
  const [row] = await sql<StateRow[]>`
    select from_block, to_block, after_agent_id, reread_from, due_at <= clock_timestamp() as is_due
    from wallet_audits where name = ${CHAIN}`;
  if (row === undefined) return undefined;
  return {
    round: {
      fromBlock: Number(row.from_block),
      toBlock: Number(row.to_block),
      afterAgentId: row.after_agent_id,
    },
    isDue: row.is_due,
    rereadFrom: row.reread_from === null ? null : Number(row.reread_from),
  };
}

/** Creates the store of the audit's progress, from which any process continues the audit. */
export function createAuditStore(sql: Sql): AuditStore {
  return {
    findState: () => findState(sql),

    async saveRound(from, to, restMs) {
      const { fromBlock, toBlock, afterAgentId } = to;
      const due = sql`clock_timestamp() + ${restMs} * interval '1 millisecond'`;
      if (from === undefined) {
        await sql`
          insert into wallet_audits (name, from_block, to_block, after_agent_id, due_at)
          values (${CHAIN}, ${fromBlock}, ${toBlock}, ${afterAgentId}, ${due})
          on conflict do nothing`;
        return;
      }
      // A beginning round covers the blocks that were marked for another reading.
      const isNew = from.round.afterAgentId === null;
      await sql`
        update wallet_audits
        set from_block = ${fromBlock}, to_block = ${toBlock}, after_agent_id = ${afterAgentId},
          due_at = ${due},
          reread_from = case when ${isNew} and reread_from is not distinct from ${from.rereadFrom}::bigint
            then null else reread_from end
        where name = ${CHAIN} and from_block = ${from.round.fromBlock}
          and to_block = ${from.round.toBlock}
          and after_agent_id is not distinct from ${from.round.afterAgentId}::integer`;
    },

    async rewind(fromBlock) {
      await sql`
        update wallet_audits set reread_from = least(reread_from, ${fromBlock}::bigint)
        where name = ${CHAIN}`;
    },

    findWallets: (afterAgentId, limit) => findWallets(sql, afterAgentId, limit),

    async findUntaken(nonces) {
      const rows = await sql<{ nonce: string }[]>`
        select n.nonce from unnest(${[...nonces]}::text[]) as n(nonce)
        where not exists (
            select 1 from payouts p where p.nonce = n.nonce and p.state = 'done')
          and not exists (
            select 1 from reservations r where r.nonce = n.nonce and (r.corrected_at is not null
              or (r.state = 'settled' and not exists (
                select 1 from postings b where b.id = 'credit:vanished:' || n.nonce))))`;
      return new Set(rows.map(({ nonce }) => nonce));
    },

    openDifferences: (differences) => openDifferences(sql, differences),

    async closeDifferences(agentIds) {
      if (agentIds.length === 0) return;
      await sql`delete from wallet_differences where agent_id = any (${[...agentIds]}::integer[])`;
    },

    findDifferences: (limit) => findDifferences(sql, limit),
    saveLooks: (looks) => saveLooks(sql, looks),

    async countTold() {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from wallet_differences where told_raw is not null`;
      return row?.count ?? 0;
    },
  };
}

type WalletRow = { id: number; wallet_address: string; wallet_raw: bigint; created_at: Date };

const walletOf = (row: WalletRow): BookedWallet => ({
  agentId: row.id,
  wallet: row.wallet_address,
  walletRaw: row.wallet_raw,
  createdMs: row.created_at.getTime(),
});

async function findWallets(
  sql: Queryable,
  afterAgentId: number,
  limit: number,
): Promise<BookedWallet[]> {
  const rows = await sql<WalletRow[]>`
    select a.id, a.wallet_address, f.wallet_raw, a.created_at
    from agents a join agent_funds f on f.agent_id = a.id
    where a.id > ${afterAgentId} and a.wallet_address is not null
    order by a.id limit ${limit}`;
  return rows.map(walletOf);
}

/** Saves differences. A difference whose amount has changed is searched anew, from the newest block on. */
async function openDifferences(
  sql: Queryable,
  differences: readonly NewDifference[],
): Promise<void> {
  if (differences.length === 0) return;
  const lines = differences.map(({ agentId, differenceRaw, floorBlock }) => ({
    agent: agentId,
    raw: differenceRaw.toString(),
    floor: floorBlock,
  }));
  await sql`
    insert into wallet_differences as d (agent_id, difference_raw, floor_block)
    select agent, raw, floor from json_to_recordset(${JSON.stringify(lines)}::text::json)
      as x(agent integer, raw bigint, floor bigint)
    on conflict (agent_id) do update
    set difference_raw = excluded.difference_raw, searched_from = null, next_at = clock_timestamp()
    where d.difference_raw <> excluded.difference_raw`;
}

type DifferenceRow = WalletRow & {
  difference_raw: bigint;
  floor_block: bigint;
  searched_from: bigint | null;
  looks: number;
  passes: number;
  told_raw: bigint | null;
};

async function findDifferences(sql: Queryable, limit: number): Promise<Difference[]> {
  const rows = await sql<DifferenceRow[]>`
    select a.id, a.wallet_address, f.wallet_raw, a.created_at, d.difference_raw, d.floor_block,
      d.searched_from, d.looks, d.passes, d.told_raw
    from wallet_differences d
    join agents a on a.id = d.agent_id join agent_funds f on f.agent_id = d.agent_id
    where d.next_at <= clock_timestamp() and a.wallet_address is not null
    order by d.next_at, d.agent_id limit ${limit}`;
  return rows.map((row) => ({
    ...walletOf(row),
    differenceRaw: row.difference_raw,
    floorBlock: Number(row.floor_block),
    searchedFrom: row.searched_from === null ? null : Number(row.searched_from),
    looks: row.looks,
    passes: row.passes,
    toldRaw: row.told_raw,
  }));
}

async function saveLooks(sql: Queryable, looks: readonly LookedAt[]): Promise<void> {
  const lines = looks.map((look) => ({
    agent: look.agentId,
    raw: look.differenceRaw.toString(),
    searched: look.searchedFrom,
    looks: look.looks,
    passes: look.passes,
    told: look.toldRaw?.toString() ?? null,
    after: look.afterMs,
  }));
  await sql`
    update wallet_differences d
    set difference_raw = x.raw, searched_from = x.searched, looks = x.looks, passes = x.passes,
      told_raw = x.told, next_at = clock_timestamp() + x.after * interval '1 millisecond'
    from json_to_recordset(${JSON.stringify(lines)}::text::json) as x(agent integer, raw bigint,
      searched bigint, looks integer, passes integer, told bigint, after bigint)
    where d.agent_id = x.agent`;
}
