import type { Queryable } from '../../platform/postgres/sql.ts';
import { paymentHoldId } from '../rules/payment.ts';

/** Money of one piece of work: the amount that was taken for it, and the amount that its holds still have. */
export type WorkMoney = { readonly chargedRaw: bigint; readonly heldRaw: bigint };

/** Returns the money of each piece of work by its id. Work that never held anything is absent. */
export async function findWorkMoney(
  sql: Queryable,
  workIds: readonly string[],
): Promise<ReadonlyMap<string, WorkMoney>> {
  // A payment that moved after its release was debited later, and one that left the chain again was credited.
  const rows = await sql<(WorkMoney & { workId: string })[]>`
    select w.id as "workId", coalesce(sum(o.amount_raw), 0)::bigint as "heldRaw",
      coalesce(sum((select sum(case when e.debit like 'agent:%' then e.amount else -e.amount end)
        from postings p, unnest(p.debits, p.credits, p.amounts) as e(debit, credit, amount)
        where p.id in ('resolve:' || h.id, 'correct:' || r.nonce, 'credit:vanished:' || r.nonce)
          and (e.debit like 'agent:%') <> (e.credit like 'agent:%'))), 0)::bigint as "chargedRaw"
    from unnest(${workIds as string[]}::text[]) w(id)
    cross join lateral (values (w.id), (w.id || ${paymentHoldId('')})) h(id)
    join postings b on b.id = 'hold:' || h.id and b.code = 'hold.open'
    left join holds o on o.id = h.id
    left join reservations r on r.hold_id = h.id
    group by w.id`;
  return new Map(rows.map(({ chargedRaw, heldRaw, workId }) => [workId, { chargedRaw, heldRaw }]));
}
