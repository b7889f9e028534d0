import { storableJson } from '../../../kernel/storable.ts';
import { insertEvents } from '../../../ledger/store/agent-funds.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { findWallet } from '../../calls/account-store.ts';
import type { Call } from '../../calls/call.ts';
import { callAnalyzed } from '../../calls/call-events.ts';
import type { CallAnalysis } from './analyze-call.ts';

/** A call that a process has claimed for analysis. */
export type ClaimedCall = {
  readonly callId: string;
  /** True when no process has claimed the call before. */
  readonly isFirst: boolean;
};

/** Claims up to `limit` calls that are due for analysis. Other processes do not get them for `claimMs`. */
export async function claimUnanalyzed(
  sql: Sql,
  { claimMs, limit }: { readonly claimMs: number; readonly limit: number },
): Promise<readonly ClaimedCall[]> {
  const rows = await sql<{ id: string; claims: number }[]>`
    update calls set analysis_due_at = now() + ${claimMs} * interval '1 millisecond',
      analysis_claims = analysis_claims + 1
    where id in (
      select id from calls where analysis_due_at <= now()
      order by analysis_due_at limit ${limit} for update skip locked)
    returning id, analysis_claims as claims`;
  return rows.map(({ claims, id }) => ({ callId: id, isFirst: claims === 1 }));
}

/**
 * Stores an analysis and its event in one commit. Returns false when another process has stored one, or the report has expired.
 */
export async function closeAnalysis(
  sql: Sql,
  call: Call,
  analysis: CallAnalysis,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update calls set analysis_due_at = null, analysis = ${storableJson(analysis)}::text::jsonb
      where id = ${call.callId} and analysis_due_at is not null returning 1`;
    if (rows.length === 0) return false;
    const wallet = await findWallet(tx, call.agentId);
    await insertEvents(tx, [callAnalyzed({ ...call, wallet }, analysis)]);
    return true;
  });
}
