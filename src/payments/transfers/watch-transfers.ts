import { planTransfer, type TransferEvent } from '../../../machines/transfer.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import {
  judgeReport,
  REVERTED,
  type ReportVerdict,
  type TransferView,
} from './confirm-transfer.ts';
import {
  claimReported,
  moveTransfer,
  type ReportedTransfer,
  tidyTransfers,
} from './transfer-store.ts';

export type WatchDeps = { readonly sql: Sql; readonly view: TransferView | undefined };

/** Reasons that end a reported transfer without its amount. */
const ENDS: Readonly<Partial<Record<ReportVerdict, string>>> = {
  refused: REVERTED,
  mismatch: 'The transaction does not make the transfer.',
};

/** Reads the chain about a bounded batch of reported transactions, and takes transfers that are over out of the open ones. */
export async function watchTransfers({ sql, view }: WatchDeps): Promise<void> {
  await tidyTransfers(sql);
  for (const transfer of await claimReported(sql)) {
    const verdict = await judgeReport(view, transfer);
    const event = eventOf(verdict, transfer);
    const to = event && planTransfer('submitted', event);
    if (to === undefined) continue;
    const { id, txHash } = transfer;
    const failureReason = to === 'failed' ? (ENDS[verdict] ?? NOT_SEEN) : undefined;
    const reason = failureReason === undefined ? {} : { failureReason };
    const freesHash = verdict === 'mismatch';
    await moveTransfer(sql, { id, from: 'submitted', to, txHash, freesHash, ...reason });
  }
}

const NOT_SEEN = 'The chain has not shown the transaction in time.';

function eventOf(
  verdict: ReportVerdict,
  { isOverdue }: ReportedTransfer,
): TransferEvent | undefined {
  if (verdict === 'unknown') return undefined;
  if (verdict === 'seen') return 'transfer.seen';
  if (verdict !== 'pending') return 'transaction.refused';
  return isOverdue ? 'deadline.passed' : undefined;
}
