import { storableJson, storableText } from '../../kernel/storable.ts';
import type { Companion } from '../rules/change.ts';
import type { ChargeRow } from '../rules/companion.ts';
import { whole } from './encode-companions.ts';
import {
  bigint,
  type Cell,
  integer,
  type SharedCells,
  type SingleStatement,
} from './single-statement.ts';

/** Companion rows of an operation that is sent alone. `write_companions` writes these and all other companion rows. */
export type SingleCompanion = Extract<
  Companion,
  { row: 'charge' | 'event' | 'reservation.opened' | 'reservation.moved' }
>;
type Row<K extends SingleCompanion['row']> = Extract<SingleCompanion, { row: K }>;

const RIDERS: ReadonlySet<Companion['row']> = new Set<SingleCompanion['row']>([
  ...(['charge', 'event', 'reservation.opened', 'reservation.moved'] as const),
]);

export const isSingleCompanion = (companion: Companion): companion is SingleCompanion =>
  RIDERS.has(companion.row);

export function writeSingleCompanion(
  statement: SingleStatement,
  shared: SharedCells,
  rider: SingleCompanion,
): void {
  switch (rider.row) {
    case 'charge':
      writeCharge(statement, shared, rider.charge);
      break;
    case 'event':
      writeEvent(statement, rider);
      break;
    case 'reservation.opened':
      openReservation(statement, shared, rider);
      break;
    case 'reservation.moved':
      moveReservation(statement, rider);
      break;
  }
}

const text = (value: string | null): Cell => ['text', value && storableText(value)];
const json = (value: object): Cell => ['json', storableJson(value)];

// Rows get the time of the clock, not of the sql transaction, which may have waited for its row locks since it began.

function writeCharge(
  statement: SingleStatement,
  { agent, posting }: SharedCells,
  row: ChargeRow,
): void {
  const cost = bigint(row.costRaw);
  const status = text(row.status);
  const model = text(row.model);
  const rail = text(row.rail);
  const action = text(row.actionId);
  statement.clause`
    insert into charges (agent_id, posting_id, key_id, target_url, target_host, method, status, cost_raw,
      model, rail, usage, task_id, action_id, customer_id, session_id, payee,
      response_status_code, latency_ms, overhead_ms, upstream_ms, created_at)
    select ${agent}, ${posting}, ${integer(row.keyId)}, ${text(row.targetUrl)}, ${text(row.targetHost)},
      ${text(row.method)}, ${status}, ${cost}, ${model}, ${rail}, ${json(row.usage)},
      ${text(row.taskId)}, ${action}, ${text(row.customerId)}, ${text(row.sessionId)},
      ${text(row.payee)}, ${integer(row.responseStatusCode)}, ${integer(whole(row.latencyMs))},
      ${integer(whole(row.overheadMs))}, ${integer(whole(row.upstreamMs))}, clock_timestamp()
    from agent`;
  statement.clause`
    insert into spend_totals as s (agent_id, day, model, rail, calls, failed, cost_raw)
    select ${agent}, (clock_timestamp() at time zone 'UTC')::date, coalesce(${model}, ''),
      coalesce(${rail}, ''), 1, (${status} = 'failed')::integer, ${cost}
    from agent
    on conflict (agent_id, day, model, rail) do update
    set calls = s.calls + excluded.calls, failed = s.failed + excluded.failed,
      cost_raw = s.cost_raw + excluded.cost_raw`;
  if (row.actionId === null) return;
  statement.clause`
    insert into action_totals as t (agent_id, action_id, calls, spent_raw, first_seen, last_seen)
    select ${agent}, ${action}, 1, case when ${status} = 'success' then ${cost} else 0 end, now(), now()
    from agent
    on conflict (agent_id, action_id) do update
    set calls = t.calls + excluded.calls, spent_raw = t.spent_raw + excluded.spent_raw,
      last_seen = greatest(t.last_seen, excluded.last_seen)`;
}

function writeEvent(statement: SingleStatement, { event }: Row<'event'>): void {
  const { accountId, agentWallet, correlationId, name, payload, webhookId = null } = event;
  // Payments that settle at the same time each find no earlier settlement, and each write the event of the first settlement.
  statement.clause`
    insert into events (name, account_id, agent_wallet, correlation_id, webhook_id, payload)
    select ${text(name)}, ${text(accountId)}, ${text(agentWallet)}, ${text(correlationId)},
      ${integer(webhookId)}, ${json(payload)}
    from agent on conflict do nothing`;
}

function openReservation(
  statement: SingleStatement,
  { agent }: SharedCells,
  { reservation, holdId, spender, valueRaw }: Row<'reservation.opened'>,
): void {
  const { nonce, wallet, payee, validBefore, signature, x402Version, network } = reservation;
  const { actionId = null, customerId = null, keyId = null, taskId = null } = spender;
  const version: Cell = ['smallint', x402Version];
  statement.clause`
    insert into reservations (nonce, hold_id, agent_id, key_id, wallet, payee, value_raw, valid_before,
      signature, x402_version, network, target_url, target_host, method,
      task_id, action_id, customer_id)
    select ${text(nonce)}, ${text(holdId)}, ${agent}, ${integer(keyId)}, ${text(wallet)}, ${text(payee)},
      ${bigint(valueRaw)}, ${bigint(validBefore)}, ${text(signature)}, ${version}, ${text(network)},
      ${text(reservation.targetUrl)}, ${text(reservation.targetHost)}, ${text(reservation.method)},
      ${text(taskId)}, ${text(actionId)}, ${text(customerId)}
    from agent`;
}

function moveReservation(
  statement: SingleStatement,
  { move, decided, corrected }: Row<'reservation.moved'>,
): void {
  const { txHash = null, responseStatusCode = null, latencyMs = null, refused } = move.learnt ?? {};
  const latency = integer(whole(latencyMs));
  statement.open();
  // An absent field leaves the column unchanged.
  statement.add`update reservations r set state = ${text(move.to)},
    tx_hash = coalesce(${text(txHash)}, r.tx_hash),
    response_status_code = coalesce(${integer(responseStatusCode)}, r.response_status_code),
    latency_ms = coalesce(${latency}, r.latency_ms)`;
  if (refused === true) statement.add`, refused = true`;
  if (move.to === 'sent') statement.add`, sent_at = clock_timestamp()`;
  // When the vendor answers at once, `sent` is not saved separately, so that the time of sending is derived here.
  if (move.to === 'pending_settlement') {
    statement.add`, sent_at = coalesce(r.sent_at,
      clock_timestamp() - coalesce(${latency}, 0) * interval '1 millisecond')`;
  }
  if (decided) statement.add`, decided_at = clock_timestamp()`;
  if (corrected) statement.add`, corrected_at = clock_timestamp()`;
  statement.add` from agent where r.nonce = ${text(move.nonce)}`;
  statement.close();
}
