import { pack } from 'msgpackr';
import type { Companion } from '../rules/change.ts';
import type { AdminAct, ChargeRow, EventRow } from '../rules/companion.ts';
import type { OpenSession } from '../rules/requests.ts';

/** Companion rows of a batch by table, in the form that `write_companions` reads. */
export type CompanionSheet = {
  charges?: object[];
  events?: object[];
  acts?: object[];
  sessions?: object[];
  ends?: object[];
  journal?: object[];
  suspends?: object[];
  thresholds?: object[];
  reservations?: object[];
  moves?: object[];
  payouts?: object[];
  paid?: object[];
  reports?: object[];
};

const put = <K extends keyof CompanionSheet>(
  sheet: CompanionSheet,
  table: K,
  row: object,
): void => {
  const rows = sheet[table];
  if (rows === undefined) sheet[table] = [row];
  else rows.push(row);
};

/** Adds one companion row of the operation with index `op`. The keys are the record fields of the SQL function. */
export function addCompanion(
  sheet: CompanionSheet,
  op: number,
  postingId: string | null,
  companion: Companion,
): void {
  switch (companion.row) {
    case 'charge':
      put(sheet, 'charges', chargeFields(op, postingId, companion.charge));
      break;
    case 'event':
      put(sheet, 'events', eventFields(op, companion.event));
      break;
    case 'admin.act':
      put(sheet, 'acts', actFields(op, companion.act));
      break;
    case 'session.opened':
      put(sheet, 'sessions', sessionFields(op, companion.session));
      break;
    case 'session.ended':
      put(sheet, 'ends', endFields(op, companion));
      break;
    case 'agent.suspended':
      put(sheet, 'suspends', { op, agent: companion.agentId, policy: companion.policyId });
      break;
    case 'threshold.crossed':
      put(sheet, 'thresholds', { op, id: companion.thresholdId, state: companion.state });
      break;
    case 'reservation.opened':
      put(sheet, 'reservations', reservationFields(op, companion));
      break;
    case 'reservation.moved':
      put(sheet, 'moves', moveFields(op, companion));
      break;
    case 'payout.planned':
      put(sheet, 'payouts', payoutFields(op, companion));
      break;
    case 'payout.done':
      put(sheet, 'paid', { op, nonce: companion.nonce, tx: companion.txHash });
      break;
    case 'platform.call':
      put(sheet, 'reports', reportFields(op, postingId, companion));
      break;
    case 'journal':
      put(sheet, 'journal', journalFields(op, companion));
      break;
  }
}

const eventFields = (op: number, event: EventRow) => ({
  op,
  name: event.name,
  account: event.accountId,
  wallet: event.agentWallet,
  correlation: event.correlationId,
  webhook: event.webhookId ?? null,
  payload: event.payload,
});

const actFields = (op: number, { act, clientAddress, detail, requestId, target }: AdminAct) => ({
  op,
  act,
  target,
  detail,
  request: requestId,
  address: clientAddress,
});

const chargeFields = (op: number, postingId: string | null, row: ChargeRow) => ({
  op,
  agent: row.agentId,
  posting: postingId,
  key: row.keyId,
  url: row.targetUrl,
  host: row.targetHost,
  method: row.method,
  status: row.status,
  cost: row.costRaw.toString(),
  model: row.model,
  rail: row.rail,
  usage: row.usage,
  task: row.taskId,
  action: row.actionId,
  customer: row.customerId,
  session: row.sessionId,
  payee: row.payee,
  code: row.responseStatusCode,
  latency: whole(row.latencyMs),
  overhead: whole(row.overheadMs),
  upstream: whole(row.upstreamMs),
});

/** Returns a duration in whole milliseconds. Durations are measured in fractions and stored whole. */
export const whole = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));

const sessionFields = (op: number, session: OpenSession) => ({
  op,
  id: session.sessionId,
  agent: session.spender.agentId,
  key: session.spender.keyId,
  kind: session.kind,
  target: session.target,
  model: session.model,
  account: session.account,
  task: session.spender.taskId,
  action: session.spender.actionId,
  customer: session.spender.customerId,
});

type Row<K extends Companion['row']> = Extract<Companion, { row: K }>;

const endFields = (op: number, { sessionId, reason, summary }: Row<'session.ended'>) => ({
  op,
  id: sessionId,
  reason,
  summary,
});

const reservationFields = (
  op: number,
  { reservation, holdId, spender, valueRaw }: Row<'reservation.opened'>,
) => ({
  op,
  nonce: reservation.nonce,
  hold: holdId,
  agent: spender.agentId,
  key: spender.keyId,
  wallet: reservation.wallet,
  payee: reservation.payee,
  value: valueRaw.toString(),
  valid_before: reservation.validBefore,
  signature: reservation.signature,
  version: reservation.x402Version,
  network: reservation.network,
  url: reservation.targetUrl,
  host: reservation.targetHost,
  method: reservation.method,
  task: spender.taskId,
  action: spender.actionId,
  customer: spender.customerId,
});

const moveFields = (op: number, { move, decided, corrected }: Row<'reservation.moved'>) => ({
  op,
  nonce: move.nonce,
  state: move.to,
  refused: move.learnt?.refused === true,
  tx: move.learnt?.txHash,
  code: move.learnt?.responseStatusCode,
  latency: whole(move.learnt?.latencyMs ?? null),
  decided,
  corrected,
});

const payoutFields = (op: number, { agentId, payout, amountRaw }: Row<'payout.planned'>) => ({
  op,
  nonce: payout.nonce,
  agent: agentId,
  kind: payout.kind,
  wallet: payout.wallet,
  payee: payout.payee,
  amount: amountRaw.toString(),
});

const reportFields = (
  op: number,
  postingId: string | null,
  { byRaw, call, corrects, countedAtMs, isFirst, revision }: Row<'platform.call'>,
) => ({
  op,
  digest: postingId,
  agent: call.agentId,
  provider: call.provider,
  call: call.callId,
  revision,
  cost: call.costRaw.toString(),
  by: byRaw.toString(),
  calls: isFirst ? 1 : 0,
  rank: call.rank,
  said: call.saidAtMs,
  seen: call.seen,
  told: call.told,
  host: call.host,
  task: call.taskId,
  customer: call.customerId,
  duration: call.durationSeconds,
  counted: countedAtMs,
  team: corrects.map(({ bucket, policy }) => ({ policy: policy.id, bucket })),
});

type JournalRow = Extract<Companion, { row: 'journal' }>;

const journalFields = (op: number, { sessionId, epoch, entry }: JournalRow) => ({
  op,
  session: sessionId,
  seq: entry.seq,
  epoch,
  cost: entry.costRaw.toString(),
  usage: pack(entry.usage).toString('hex'),
});
