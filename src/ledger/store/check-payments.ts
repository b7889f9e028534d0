import type { Sql } from '../../platform/postgres/sql.ts';

export type PaymentViolation = { readonly agentId: number | null; readonly detail: string };

type Row = { agent_id: number; detail: string };

const violations = (rows: readonly Row[]): PaymentViolation[] =>
  rows.map((row) => ({ agentId: row.agent_id, detail: row.detail }));

/**
 * 8. The wallet amount in an agent's row equals the deposits less the payments on chain, and the promised amount equals all
 * signed payments that are undecided. A payment has its whole hold until it is decided, and afterwards has the outcome of that
 * decision.
 */
export async function checkPayments(
  sql: Sql,
  from: number,
  to: number,
  most: number,
): Promise<PaymentViolation[]> {
  return [
    ...(await checkWallets(sql, from, to, most)),
    ...(await checkReservations(sql, from, to, most)),
  ];
}

/**
 * Checks wallets. A payment that was debited after its release has left the wallet like any other payment. A payment that was
 * settled, credited again by a reorganisation and debited after all came in once more and left twice.
 */
async function checkWallets(
  sql: Sql,
  from: number,
  to: number,
  most: number,
): Promise<PaymentViolation[]> {
  const rows = await sql<Row[]>`
    with came as (
      select p.agent_id, sum(e.amount) as raw
      from postings p, unnest(p.amounts) as e(amount)
      where p.agent_id between ${from} and ${to} and p.code = 'funding.deposit' group by 1),
    signed as (
      select agent_id,
        coalesce(sum(value_raw) filter (where state in ('reserved', 'sent', 'pending_settlement')), 0) as open,
        coalesce(sum(value_raw) filter (where state = 'settled'), 0)
          + coalesce(sum(value_raw) filter (where corrected_at is not null), 0) as went
      from reservations where agent_id between ${from} and ${to} group by 1),
    paid as (
      select agent_id, coalesce(sum(amount_raw) filter (where state <> 'done'), 0) as open,
        coalesce(sum(amount_raw) filter (where state = 'done'), 0) as went
      from payouts where agent_id between ${from} and ${to} group by 1)
    select agent_id,
      format('wallet %s, came %s, went %s to vendors and %s to owners; promised %s, undecided %s and %s',
        f.wallet_raw, coalesce(c.raw, 0), coalesce(s.went, 0), coalesce(p.went, 0),
        f.promised_raw, coalesce(s.open, 0), coalesce(p.open, 0)) as detail
    from (select * from agent_funds where agent_id between ${from} and ${to}) f
    full join came c using (agent_id) full join signed s using (agent_id) full join paid p using (agent_id)
    where coalesce(f.wallet_raw, 0) <> coalesce(c.raw, 0) - coalesce(s.went, 0) - coalesce(p.went, 0)
      or coalesce(f.promised_raw, 0) <> coalesce(s.open, 0) + coalesce(p.open, 0)
    limit ${most}`;
  return violations(rows);
}

async function checkReservations(
  sql: Sql,
  from: number,
  to: number,
  most: number,
): Promise<PaymentViolation[]> {
  const rows = await sql<Row[]>`
    select r.agent_id, format('payment %s of %s is %s, its hold is %s, resolved to %s', r.nonce, r.value_raw,
        r.state, coalesce(h.amount_raw::text, 'not open'), coalesce(p.asked_raw::text, 'nothing')) as detail
    from reservations r
    left join holds h on h.id = r.hold_id and h.agent_id = r.agent_id
    left join postings p on p.id = 'resolve:' || r.hold_id
    where r.agent_id between ${from} and ${to} and case
      when r.state in ('reserved', 'sent', 'pending_settlement')
      then h.amount_raw is distinct from r.value_raw or p.id is not null or r.decided_at is not null
      else h.id is not null or r.decided_at is null
        or p.asked_raw is distinct from case when r.state = 'settled' then r.value_raw else 0 end
      end
    limit ${most}`;
  return violations(rows);
}
