import { createHash } from 'node:crypto';
import type { PlatformCall } from '../ledger/rules/companion.ts';
import type { Ledger } from '../ledger/rules/ledger.ts';
import { factsOfCall } from '../ledger/rules/operation.ts';
import { roomFor } from '../ledger/rules/spend-state.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import type { SpendStateReader } from '../spend/limits/spend-state.ts';
import { eventsOfReport } from './call-events.ts';
import type { InboundConnection } from './connection.ts';
import { orchestratorErrors } from './errors.ts';
import { ORCHESTRATOR_LIMITS } from './limits.ts';
import { PLATFORMS } from './platform.ts';
import type { Report } from './read-report.ts';
import { findCall, type KnownCall } from './report-store.ts';

type Deps = {
  readonly sql: Sql;
  readonly ledger: Pick<Ledger, 'report' | 'enforce'>;
  readonly spendState: Pick<SpendStateReader, 'read'>;
  /** Rejects when the database does not answer in time. */
  readonly inTime: <T>(found: Promise<T>) => Promise<T>;
};

/**
 * Takes the report of a call: counts its cost under the agent's policies once, however often and in whatever order reports
 * arrive, and suspends the agent when a cap that is a kill switch is crossed. Returns true when the report brought nothing new.
 */
export async function takeReport(
  deps: Deps,
  connection: InboundConnection,
  report: Report,
): Promise<boolean> {
  const call = callOf(connection, report);
  const isRepeat = await count(deps, connection, report, call);
  // Also after a repeat: the process that took the first may have died before it suspended the agent.
  await stopBeyondCaps(deps, call);
  return isRepeat;
}

async function count(
  { sql, ledger, inTime }: Deps,
  connection: InboundConnection,
  report: Report,
  call: PlatformCall,
): Promise<boolean> {
  const { agentId } = connection;
  for (let attempt = 0; attempt < ORCHESTRATOR_LIMITS.report.attempts; attempt++) {
    const known = await inTime(findCall(sql, call));
    if (known !== undefined && isPast(known, call)) return true;
    const events = eventsOfReport(connection, report, known?.told ?? []);
    const told = [...(known?.told ?? []), ...events.map(({ name }) => name)];
    const next = known === undefined ? { ...call, told } : { ...after(known, call), told };
    const verdict = await ledger.report({ agentId, call: next, before: known ?? null, events });
    if (verdict === 'counted') {
      return known !== undefined && known.costRaw === call.costRaw && events.length === 0;
    }
    if (verdict === 'agent_unknown') throw orchestratorErrors.unknownUrl();
  }
  throw orchestratorErrors.busy();
}

const callOf = ({ agentId, provider }: InboundConnection, report: Report): PlatformCall => ({
  agentId,
  provider,
  callId: report.callId,
  costRaw: report.costRaw,
  rank: report.rank,
  saidAtMs: report.saidAtMs,
  seen: [markOf(report)],
  told: [],
  host: PLATFORMS[provider].host,
  taskId: report.taskId,
  customerId: report.customerId,
  durationSeconds: report.durationSeconds,
});

/** Returns the mark by which a repeat of a report is known. A report that brings a recording or words later is no repeat. */
const markOf = (report: Report): string =>
  createHash('sha256')
    .update(`${report.rank} ${report.saidAtMs} ${report.costRaw}`)
    .update(` ${report.recordingUrl !== undefined} ${report.analysis !== undefined}`)
    .update(` ${report.summary !== undefined || report.transcript !== undefined}`)
    .digest('base64url')
    .slice(0, 12);

/**
 * Returns true when a report says nothing that is later than the row: it was taken before, is of a lower rank, or was said
 * earlier by the platform's clock. Reports without a time are in the order of their arrival.
 */
function isPast(known: KnownCall, { rank, saidAtMs, seen }: PlatformCall): boolean {
  if (seen.some((mark) => known.seen.includes(mark))) return true;
  if (rank !== known.rank) return rank < known.rank;
  return saidAtMs !== null && known.saidAtMs !== null && saidAtMs < known.saidAtMs;
}

/** Returns the row after a later report. A call keeps the task and the customer that it was counted for. */
const after = (known: KnownCall, call: PlatformCall): PlatformCall => ({
  ...call,
  taskId: known.taskId,
  customerId: known.customerId,
  seen: [...call.seen, ...known.seen].slice(0, ORCHESTRATOR_LIMITS.report.marks),
});

/** Suspends the agent when a cap that suspends is crossed. The ledger leaves an agent alone that is not active. */
async function stopBeyondCaps({ ledger, spendState }: Deps, call: PlatformCall): Promise<void> {
  const state = await spendState.read(call.agentId);
  if (state === undefined || state.rules.status !== 'active') return;
  const crossed = roomFor(state, factsOfCall(call), null).caps.find(
    ({ capRaw, policy, spentRaw }) => policy.action === 'suspend_agent' && spentRaw > capRaw,
  );
  if (crossed === undefined) return;
  const { capRaw, policy, spentRaw } = crossed;
  const breach = { policy, requiredRaw: 0n, spentRaw, capRaw };
  await ledger.enforce(call.agentId, {
    reason: 'cap_exceeded',
    breach,
    availableRaw: 0n,
    suspended: false,
  });
}
