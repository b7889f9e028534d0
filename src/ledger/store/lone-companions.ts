import { storableJson, storableText } from '../../kernel/storable.ts';
import type { Companion } from '../rules/change.ts';
import type { ChargeRow } from '../rules/companion.ts';
import { whole } from './encode-companions.ts';
import { type AloneStatement, bigint, type Cell, integer } from './lone-statement.ts';

/** Companion rows of an operation that is sent alone. `write_companions` writes the same, and all others. */
export type LoneCompanion = Extract<
  Companion,
  { row: 'charge' | 'event' | 'reservation.opened' | 'reservation.moved' }
>;
type Row<K extends LoneCompanion['row']> = Extract<LoneCompanion, { row: K }>;

const RIDERS: ReadonlySet<Companion['row']> = new Set<LoneCompanion['row']>([
  ...(['charge', 'event', 'reservation.opened', 'reservation.moved'] as const),
]);

export const isLoneCompanion = (companion: Companion): companion is LoneCompanion =>
  RIDERS.has(companion.row);

/** `postingId`: of the operation that the row is written with. */
export function writeLoneCompanion(
  statement: AloneStatement,
  agentId: number,
  postingId: string,
  rider: LoneCompanion,
): void {
  switch (rider.row) {
    case 'charge':
      writeCharge(statement, postingId, rider.charge);
      break;
    case 'event':
      writeEvent(statement, rider);
      break;
    case 'reservation.opened':
      openReservation(statement, agentId, rider);
      break;
    case 'reservation.moved':
      moveReservation(statement, rider);
      break;
  }
}

const text = (value: string | null): Cell => ['text', value && storableText(value)];
const json = (value: object): Cell => ['json', storableJson(value)];
// Not when the sql transaction began: it may have waited for its rows since.
const NOW = 'clock_timestamp()';

function writeCharge(statement: AloneStatement, postingId: string, row: ChargeRow): void {
  const { model, rail, taskId, actionId, customerId, sessionId, payee } = row;
  const agent = integer(row.agentId);
  statement.insert('charges', {
    agent_id: agent,
    posting_id: text(postingId),
    key_id: integer(row.keyId),
    target_url: text(row.targetUrl),
    target_host: text(row.targetHost),
    method: text(row.method),
    status: text(row.status),
    cost_raw: bigint(row.costRaw),
    model: text(model),
    rail: text(rail),
    usage: json(row.usage),
    task_id: text(taskId),
    action_id: text(actionId),
    customer_id: text(customerId),
    session_id: text(sessionId),
    payee: text(payee),
    response_status_code: integer(row.responseStatusCode),
    latency_ms: integer(whole(row.latencyMs)),
    overhead_ms: integer(whole(row.overheadMs)),
    upstream_ms: integer(whole(row.upstreamMs)),
    created_at: { sql: NOW },
  });
  const failed = integer(row.status === 'failed' ? 1 : 0);
  statement.insert(
    'spend_totals as s',
    {
      agent_id: agent,
      day: { sql: `(${NOW} at time zone 'UTC')::date` },
      model: text(model ?? ''),
      rail: text(rail ?? ''),
      calls: integer(1),
      failed,
      cost_raw: bigint(row.costRaw),
    },
    `on conflict (agent_id, day, model, rail) do update
     set calls = s.calls + excluded.calls, failed = s.failed + excluded.failed,
         cost_raw = s.cost_raw + excluded.cost_raw`,
  );
  if (actionId === null) return;
  statement.insert(
    'action_totals as t',
    {
      agent_id: agent,
      action_id: text(actionId),
      calls: integer(1),
      spent_raw: bigint(row.status === 'success' ? row.costRaw : 0n),
      first_seen: { sql: 'now()' },
      last_seen: { sql: 'now()' },
    },
    `on conflict (agent_id, action_id) do update
     set calls = t.calls + excluded.calls, spent_raw = t.spent_raw + excluded.spent_raw,
         last_seen = greatest(t.last_seen, excluded.last_seen)`,
  );
}

const writeEvent = (statement: AloneStatement, { event }: Row<'event'>): void =>
  statement.insert(
    'events',
    {
      name: text(event.name),
      account_id: text(event.accountId),
      agent_wallet: text(event.agentWallet),
      correlation_id: text(event.correlationId),
      webhook_id: integer(event.webhookId ?? null),
      payload: json(event.payload),
    },
    // Of payments that are settled side by side, each was the first when it was looked.
    'on conflict do nothing',
  );

function openReservation(
  statement: AloneStatement,
  agentId: number,
  { reservation, holdId, spender, valueRaw }: Row<'reservation.opened'>,
): void {
  const { nonce, wallet, payee, validBefore, signature, x402Version, network } = reservation;
  statement.insert('reservations', {
    nonce: text(nonce),
    hold_id: text(holdId),
    agent_id: integer(agentId),
    key_id: integer(spender.keyId ?? null),
    wallet: text(wallet),
    payee: text(payee),
    value_raw: bigint(valueRaw),
    valid_before: bigint(validBefore),
    signature: text(signature),
    x402_version: ['smallint', x402Version],
    network: text(network),
    target_url: text(reservation.targetUrl),
    target_host: text(reservation.targetHost),
    method: text(reservation.method),
    task_id: text(spender.taskId ?? null),
    action_id: text(spender.actionId ?? null),
    customer_id: text(spender.customerId ?? null),
  });
}

function moveReservation(
  statement: AloneStatement,
  { move, decided, corrected }: Row<'reservation.moved'>,
): void {
  const { txHash = null, responseStatusCode = null, latencyMs = null, refused } = move.learnt ?? {};
  const put = (cell: Cell) => statement.cell(cell);
  const latency = put(integer(whole(latencyMs)));
  const set = [
    `state = ${put(text(move.to))}`,
    // An absent field stays as it was.
    `tx_hash = coalesce(${put(text(txHash))}, r.tx_hash)`,
    `response_status_code = coalesce(${put(integer(responseStatusCode))}, r.response_status_code)`,
    `latency_ms = coalesce(${latency}, r.latency_ms)`,
  ];
  if (refused === true) set.push('refused = true');
  if (move.to === 'sent') set.push(`sent_at = ${NOW}`);
  if (move.to === 'pending_settlement') {
    // An answer that comes at once is written without a step of its own for the sending.
    const since = `${NOW} - coalesce(${latency}, 0) * interval '1 millisecond'`;
    set.push(`sent_at = coalesce(r.sent_at, ${since})`);
  }
  if (decided) set.push(`decided_at = ${NOW}`);
  if (corrected) set.push(`corrected_at = ${NOW}`);
  const nonce = put(text(move.nonce));
  statement.change(
    `update reservations r set ${set.join(', ')} from agent where r.nonce = ${nonce}`,
  );
}
