import { insertEvents } from '../../../ledger/store/agent-funds.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { findWallet } from '../../calls/account-store.ts';
import type { Call } from '../../calls/call.ts';
import { callAnalyzed } from '../../calls/call-events.ts';
import type { CallAnalysis } from './analyze-call.ts';

/** Claims calls that are to be analyzed, at most `limit`: no other process gets them for `claimMs`. Returns their ids. */
export async function claimUnanalyzed(
  sql: Sql,
  { claimMs, limit }: { readonly claimMs: number; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    update calls set analysis_due_at = now() + ${claimMs} * interval '1 millisecond'
    where id in (
      select id from calls where analysis_due_at <= now()
      order by analysis_due_at limit ${limit} for update skip locked)
    returning id`;
  return rows.map(({ id }) => id);
}

/** Writes an analysis and its event in one commit. False: another process did before, or its report is over. */
export async function closeAnalysis(
  sql: Sql,
  call: Call,
  analysis: CallAnalysis,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update calls set analysis_due_at = null, analysis = ${tx.json(analysis as object as never)}
      where id = ${call.callId} and analysis_due_at is not null returning 1`;
    if (rows.length === 0) return false;
    const wallet = await findWallet(tx, call.agentId);
    await insertEvents(tx, [callAnalyzed({ ...call, wallet }, analysis)]);
    return true;
  });
}
