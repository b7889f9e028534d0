import type { Sql } from '../../platform/postgres/sql.ts';
import type { AwaitedStore } from './awaited.ts';

type BookRow = { agent_id: number; wallet_raw: bigint; missing_raw: bigint; is_waiting: boolean };

type WaitRow = {
  agent_id: number;
  wallet_address: string;
  from_block: bigint;
  to_block: bigint;
  looks: number;
};

/** Keeps the wallets whose credits wait in the database, so that the next reader retries them. */
export function createAwaitedStore(sql: Sql): AwaitedStore {
  return {
    async findBooks(agentIds) {
      const rows = await sql<BookRow[]>`
        select f.agent_id, f.wallet_raw, greatest(0, -coalesce(d.told_raw, 0))::bigint as missing_raw,
          exists (select 1 from awaited_deposits w where w.agent_id = f.agent_id) as is_waiting
        from agent_funds f left join wallet_differences d on d.agent_id = f.agent_id
        where f.agent_id = any (${[...agentIds]}::integer[])`;
      return new Map(
        rows.map((row) => [
          row.agent_id,
          {
            walletRaw: row.wallet_raw,
            missingRaw: row.missing_raw,
            isWaiting: row.is_waiting,
          },
        ]),
      );
    },

    async add(waits) {
      if (waits.length === 0) return new Set();
      const lines = waits.map(({ agentId: agent, blockNumber: block }) => ({ agent, block }));
      const rows = await sql<{ agent_id: number }[]>`
        insert into awaited_deposits as w (agent_id, from_block, to_block)
        select agent, min(block), max(block)
        from json_to_recordset(${JSON.stringify(lines)}::text::json)
          as x(agent integer, block bigint)
        group by agent order by agent
        on conflict (agent_id) do update
        set from_block = least(w.from_block, excluded.from_block),
          to_block = greatest(w.to_block, excluded.to_block), looks = 0, next_at = clock_timestamp()
        where excluded.from_block < w.from_block or excluded.to_block > w.to_block
        returning agent_id`;
      return new Set(rows.map(({ agent_id: agentId }) => agentId));
    },

    async findDue(limit) {
      const rows = await sql<WaitRow[]>`
        select w.agent_id, a.wallet_address, w.from_block, w.to_block, w.looks
        from awaited_deposits w join agents a on a.id = w.agent_id
        where w.next_at <= clock_timestamp() and a.wallet_address is not null
        order by w.next_at, w.agent_id limit ${limit}`;
      return rows.map((row) => ({
        agentId: row.agent_id,
        wallet: row.wallet_address,
        fromBlock: Number(row.from_block),
        toBlock: Number(row.to_block),
        looks: row.looks,
      }));
    },

    async close({ agentId, fromBlock, toBlock }) {
      await sql`
        delete from awaited_deposits
        where agent_id = ${agentId} and from_block = ${fromBlock} and to_block = ${toBlock}`;
    },

    async postpone({ agentId }, afterMs) {
      await sql`
        update awaited_deposits set looks = looks + 1,
          next_at = clock_timestamp() + ${afterMs} * interval '1 millisecond'
        where agent_id = ${agentId}`;
    },
  };
}
