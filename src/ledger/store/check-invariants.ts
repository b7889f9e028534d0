import type { Sql } from '../../platform/postgres/sql.ts';
import { checkCounters } from './check-counters.ts';
import { checkPayments } from './check-payments.ts';

export type Violation = {
  /** Number of the invariant in `src/ledger/rules/README.md`. Invariants 6 and 7 concern responses. */
  readonly invariant: 1 | 2 | 3 | 4 | 5 | 8;
  readonly agentId: number | null;
  readonly detail: string;
};

const MOST = 100;

/**
 * Checks the ledger's invariants with queries, each in one snapshot. An empty list means a sound ledger; at most `MOST`
 * violations of each invariant are listed. A range of agents bounds the work by their postings.
 */
export async function checkInvariants(
  sql: Sql,
  range: { readonly fromAgentId: number; readonly toAgentId: number } = {
    fromAgentId: 0,
    toAgentId: 2_147_483_647,
  },
): Promise<Violation[]> {
  const found: Violation[] = [];
  // One check after the other, because each takes a connection that requests need.
  for (const check of [checkDerived, checkEntries, checkHolds, checkGuards]) {
    found.push(...(await check(sql, range.fromAgentId, range.toAgentId)));
  }
  for (const violation of await checkCounters(sql, range.fromAgentId, range.toAgentId, MOST)) {
    found.push({ invariant: 5, ...violation });
  }
  for (const violation of await checkPayments(sql, range.fromAgentId, range.toAgentId, MOST)) {
    found.push({ invariant: 8, ...violation });
  }
  return found;
}

type Row = { agent_id: number | null; detail: string };

const violations = (invariant: Violation['invariant'], rows: readonly Row[]): Violation[] =>
  rows.map((row) => ({ invariant, agentId: row.agent_id, detail: row.detail }));

/** Checks invariant 1: each balance equals the sum of its postings, and credits = spendable + held + consumed. */
async function checkDerived(sql: Sql, from: number, to: number): Promise<Violation[]> {
  const rows = await sql<Row[]>`
    with moved as (
      select p.agent_id,
        sum(case when e.credit = 'agent:' || p.agent_id || ':spendable' then e.amount else 0 end)
          - sum(case when e.debit = 'agent:' || p.agent_id || ':spendable' then e.amount else 0 end)
          as spendable,
        sum(case when e.credit = 'agent:' || p.agent_id || ':held' then e.amount else 0 end)
          - sum(case when e.debit = 'agent:' || p.agent_id || ':held' then e.amount else 0 end)
          as held,
        sum(case when e.debit not like 'agent:%' and e.credit like 'agent:%' then e.amount else 0 end)
          as credited,
        sum(case when e.debit like 'agent:%' and e.credit not like 'agent:%' then e.amount else 0 end)
          as consumed
      from postings p, unnest(p.debits, p.credits, p.amounts) as e(debit, credit, amount)
      where p.agent_id between ${from} and ${to}
      group by p.agent_id)
    select coalesce(f.agent_id, m.agent_id) as agent_id,
      format('row %s/%s/%s/%s, postings %s/%s/%s/%s',
        f.spendable_raw, f.held_raw, f.credited_raw, f.consumed_raw,
        m.spendable, m.held, m.credited, m.consumed) as detail
    from (select * from agent_funds where agent_id between ${from} and ${to}) f
    full join moved m on m.agent_id = f.agent_id
    where f.agent_id is null
      or f.spendable_raw <> coalesce(m.spendable, 0) or f.held_raw <> coalesce(m.held, 0)
      or f.credited_raw <> coalesce(m.credited, 0) or f.consumed_raw <> coalesce(m.consumed, 0)
      or f.credited_raw <> f.spendable_raw + f.held_raw + f.consumed_raw
    limit ${MOST}`;
  return violations(1, rows);
}

/** Checks invariant 2: every entry has a debit account, another credit account and an amount, so that both sums are equal. */
async function checkEntries(sql: Sql, from: number, to: number): Promise<Violation[]> {
  const rows = await sql<Row[]>`
    select p.agent_id, p.id as detail from postings p
    where p.agent_id between ${from} and ${to} and (
      cardinality(p.debits) <> cardinality(p.amounts)
      or cardinality(p.credits) <> cardinality(p.amounts)
      or exists (select 1 from unnest(p.debits, p.credits, p.amounts) as e(debit, credit, amount)
                 where e.debit is null or e.credit is null or e.debit = e.credit
                   or e.amount is null or e.amount <= 0))
    limit ${MOST}`;
  return violations(2, rows);
}

/** Checks invariant 3: a hold is open or resolved, open holds add up to the held amount, and ended sessions hold nothing. */
async function checkHolds(sql: Sql, from: number, to: number): Promise<Violation[]> {
  const rows = await sql<Row[]>`
    (select f.agent_id, format('held %s, open holds %s', f.held_raw, coalesce(sum(h.amount_raw), 0))
       as detail
     from agent_funds f left join holds h on h.agent_id = f.agent_id
     where f.agent_id between ${from} and ${to}
     group by f.agent_id, f.held_raw having f.held_raw <> coalesce(sum(h.amount_raw), 0)
     limit ${MOST})
    union all
    (select h.agent_id, 'resolved, yet open: ' || h.id
     from holds h join postings p on p.id = 'resolve:' || h.id
     where h.agent_id between ${from} and ${to} limit ${MOST})
    union all
    (select p.agent_id, 'neither open nor resolved: ' || p.id
     from postings p
     where p.agent_id between ${from} and ${to} and p.code = 'hold.open'
       and not exists (select 1 from holds h where h.id = substr(p.id, 6))
       and not exists (select 1 from postings r where r.id = 'resolve:' || substr(p.id, 6))
     limit ${MOST})
    union all
    (select h.agent_id, 'held by an ended session: ' || h.id
     from holds h join sessions s on s.id = h.session_id
     where h.agent_id between ${from} and ${to} and s.ended_at is not null limit ${MOST})`;
  return violations(3, rows);
}

/** Checks invariant 4: neither balance is negative, and no posting ever made one negative. */
async function checkGuards(sql: Sql, from: number, to: number): Promise<Violation[]> {
  const rows = await sql<Row[]>`
    select agent_id, format('spendable %s, held %s', spendable_raw, held_raw) as detail
    from agent_funds
    where agent_id between ${from} and ${to} and (spendable_raw < 0 or held_raw < 0)
    limit ${MOST}`;
  return violations(4, rows);
}

/** Returns the highest agent id, at which a walk over all agents ends; 0 without agents. */
export async function findLastAgentId(sql: Sql): Promise<number> {
  const [row] = await sql<{ id: number | null }[]>`select max(agent_id) as id from agent_funds`;
  return row?.id ?? 0;
}
