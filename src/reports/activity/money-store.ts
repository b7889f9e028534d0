import type { Queryable } from '../../platform/postgres/sql.ts';
import type { ActivityEvent, ActivityType } from './activity-event.ts';
import { type Found, micros, type Wanted, within } from './wanted-store.ts';

type CreditRow = {
  readonly id: string;
  readonly agentId: number;
  readonly atMicros: bigint;
  readonly code: string;
  readonly amountRaw: bigint;
};

/** Reads credits: deposits that the chain has shown, and credits by the operator. */
export async function findCredits(sql: Queryable, wanted: Wanted): Promise<Found> {
  const id = sql`p.id < ${wanted.before?.id ?? ''} collate "C"`;
  const rows = await sql<CreditRow[]>`
    select l.id, l.agent_id as "agentId", ${micros(sql, 'l.at')} as "atMicros", l.code,
      l.asked_raw as "amountRaw"
    from unnest(${wanted.agentIds as number[]}::int[]) as a(id)
    cross join lateral (
      select * from postings p
      where p.agent_id = a.id and p.code in ('funding.deposit', 'funding.credit')
        and ${within(sql, wanted, { at: 'p.at', id, source: 'credit' })}
      order by p.at desc, p.id desc limit ${wanted.limit}) l
    order by l.at desc, l.id desc limit ${wanted.limit}`;
  return { events: rows.map(creditEvent), readTo: undefined };
}

function creditEvent(row: CreditRow): ActivityEvent {
  const reference = row.id.slice('credit:'.length);
  const isDeposit = row.code === 'funding.deposit';
  const [, txHash] = /^(?:deposit|vanished):(0x[0-9a-f]{64})\b/.exec(reference) ?? [];
  return {
    source: 'credit',
    rowId: row.id,
    type: 'transfer_deposit',
    agentId: row.agentId,
    atMicros: row.atMicros,
    status: 'success',
    summary: isDeposit ? 'USDC arrived in the wallet' : 'Credited by the operator',
    amountRaw: row.amountRaw,
    txHash: isDeposit ? (txHash ?? null) : null,
    details: { reference },
  };
}

type PayoutRow = {
  readonly id: string;
  readonly agentId: number;
  readonly atMicros: bigint;
  readonly kind: string;
  readonly isDone: boolean;
  readonly amountRaw: bigint;
  readonly payee: string;
  readonly txHash: string | null;
};

/**
 * Reads payouts: to the developer, or to others. A payout to the operator's treasury is no event of the account.
 */
const payoutsTo =
  (whom: 'developer' | 'others') =>
  async (sql: Queryable, wanted: Wanted): Promise<Found> => {
    const id = sql`p.nonce < ${wanted.before?.id ?? ''} collate "C"`;
    const own = sql`exists (
      select from transfers t where t.nonce = p.nonce and t.direction = 'from_agent')`;
    const which =
      whom === 'developer'
        ? sql`(p.kind = 'close' or (p.kind = 'transfer' and ${own}))`
        : sql`p.kind = 'transfer' and not ${own}`;
    const rows = await sql<PayoutRow[]>`
      select l.nonce as id, l.agent_id as "agentId", ${micros(sql, 'l.created_at')} as "atMicros",
        l.kind, l.state = 'done' as "isDone", l.amount_raw as "amountRaw", l.payee,
        l.tx_hash as "txHash"
      from unnest(${wanted.agentIds as number[]}::int[]) as a(id)
      cross join lateral (
        select * from payouts p
        where p.agent_id = a.id and ${which}
          and ${within(sql, wanted, { at: 'p.created_at', id, source: 'payout' })}
        order by p.created_at desc, p.nonce desc limit ${wanted.limit}) l
      order by l.created_at desc, l.nonce desc limit ${wanted.limit}`;
    const type = whom === 'developer' ? 'transfer_withdrawal' : 'transfer_external';
    return { events: rows.map((row) => payoutEvent(row, type)), readTo: undefined };
  };

const payoutEvent = (row: PayoutRow, type: ActivityType): ActivityEvent => ({
  source: 'payout',
  rowId: row.id,
  type,
  agentId: row.agentId,
  atMicros: row.atMicros,
  status: row.isDone ? 'success' : 'pending',
  summary:
    row.kind === 'close'
      ? 'Paid out to the developer at the close of the agent'
      : `Transferred to ${row.payee}`,
  amountRaw: row.amountRaw,
  txHash: row.txHash,
  details: { payee: row.payee },
});

export const findWithdrawals = payoutsTo('developer');
export const findExternal = payoutsTo('others');
