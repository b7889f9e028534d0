import type { Queryable } from '../../platform/postgres/sql.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { findLines } from '../calls/opening/new-call-store.ts';
import { KeptHours } from '../dialling/kept-hours.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { Batch } from './batch.ts';
import { endWaiting } from './change-store.ts';
import { planRow } from './plan-row.ts';
import {
  type ClaimedRow,
  changeRows,
  claimRows,
  endBatch,
  findCallingRows,
  findOpen,
  findReadyRows,
  lockBatch,
  putOffRows,
  scheduleBatch,
} from './run-store.ts';

const BOUNDS = PHONE_LIMITS.batch;
/** Nothing is waited for longer in one go. */
const LONGEST_MS = 3_600_000;

/** The rows that this process is to call, and their batch. */
export type BatchTurn = { readonly batch: Batch; readonly rows: readonly ClaimedRow[] };

/**
 * Runs one turn of a batch in one commit: stores the outcomes of its calls, claims up to `most` rows to call and schedules the
 * next turn. Ends a batch whose rows are all done. Returns undefined when the batch is over.
 */
export async function advanceBatch(
  deps: CallDeps,
  batchId: string,
  most: number,
): Promise<BatchTurn | undefined> {
  return deps.sql.begin(async (tx) => {
    const batch = await lockBatch(tx, batchId);
    if (batch === undefined) return undefined;
    const isExpired = deps.clock.now() > batch.startAtMs + BOUNDS.lifetimeMs;
    if (isExpired) await endWaiting(tx, batchId, 'expired');
    const isStopped = isExpired || batch.status === 'canceled';
    const calling = await findCallingRows(tx, batchId);
    const planned = calling.map((row) => planRow({ retries: batch.retries, isStopped }, row));
    const changes = planned.filter((change) => change !== undefined);
    await changeRows(tx, batchId, changes);
    const going = calling.filter((_, at) => planned[at] === undefined);
    const unwritten = going.filter(({ callId }) => callId === null).length;
    const taken =
      batch.status === 'running' && !isExpired
        ? await takeRows(deps, tx, batch, { calling: going.length, unwritten, most })
        : NOTHING;
    await settleTurn(tx, batch, taken.isMore);
    return { batch, rows: taken.rows };
  });
}

type Taken = {
  readonly rows: readonly ClaimedRow[];
  /** Others may be ready at once. */
  readonly isMore: boolean;
};

const NOTHING: Taken = { rows: [], isMore: false };

/** Claims rows that are ready, as many as there is room for. Those outside of the calling hours of their place are put off. */
async function takeRows(
  deps: CallDeps,
  tx: Queryable,
  batch: Batch,
  {
    calling,
    most,
    unwritten,
  }: {
    readonly calling: number;
    /** Number of the `calling` rows whose call has no database row yet. */
    readonly unwritten: number;
    readonly most: number;
  },
): Promise<Taken> {
  const { clock, concurrentCalls, dialling } = deps;
  const { batchId, callingHours, maxConcurrent } = batch;
  const lines = await findLines(tx, batch, concurrentCalls);
  const free = lines.map(({ active, limit }) => limit - active - unwritten);
  const room = Math.min(...free, most, BOUNDS.callsPerTurn, (maxConcurrent ?? Infinity) - calling);
  if (room <= 0) return NOTHING;
  const nowMs = clock.now();
  const hours = new KeptHours([dialling.callingHours, callingHours]);
  const ready = await findReadyRows(tx, batchId, room);
  const admitted: number[] = [];
  const late: number[] = [];
  for (const { seq, to } of ready) ((await hours.admit(to, nowMs)) ? admitted : late).push(seq);
  const step = BOUNDS.hoursStepMs;
  await putOffRows(tx, batchId, late, new Date((Math.floor(nowMs / step) + 1) * step));
  const rows = await claimRows(tx, batchId, admitted);
  return { rows, isMore: ready.length === room };
}

/** Says when the next turn of a batch is, or ends it. */
async function settleTurn(tx: Queryable, batch: Batch, isMore: boolean): Promise<void> {
  const { batchId, status } = batch;
  const { calling, nextInMs, open } = await findOpen(tx, batchId);
  if (open === 0) {
    await endBatch(tx, batchId, status === 'canceled' ? 'canceled' : 'completed');
    return;
  }
  const ofCalls = calling > 0 ? BOUNDS.pollMs : LONGEST_MS;
  const ofWaiting = status === 'running' ? waitOf(nextInMs, isMore) : BOUNDS.pausedMs;
  await scheduleBatch(tx, batchId, Math.ceil(Math.min(ofCalls, ofWaiting, LONGEST_MS)));
}

function waitOf(nextInMs: number | null, isMore: boolean): number {
  if (nextInMs === null) return LONGEST_MS;
  if (nextInMs > 0) return nextInMs;
  return isMore ? 0 : BOUNDS.pollMs;
}
