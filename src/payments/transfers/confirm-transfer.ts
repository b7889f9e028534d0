import { planTransfer } from '../../../machines/transfer.ts';
import { type Rpc, RpcUnavailable } from '../../platform/chain/rpc.ts';
import { incoming } from '../../platform/chain/usdc.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { refusesValue } from '../../platform/postgres/transient.ts';
import { transferErrors } from '../errors.ts';
import type { ChainView } from '../reconcile/judge-by-chain.ts';
import type { Transfer } from './transfer.ts';
import { moveTransfer, type ReportedTransfer } from './transfer-store.ts';

/**
 * Verdict of the chain on a reported transaction. `seen`: a block with enough confirmations has the transfer. `pending`: no such
 * block is known. `unknown`: the node is away. `refused`: the transaction was reverted. `mismatch`: it moves something else.
 */
export type ReportVerdict = 'seen' | 'pending' | 'unknown' | 'refused' | 'mismatch';

export type TransferView = Pick<ChainView, 'usdc' | 'confirmations'> & {
  readonly rpc: Pick<Rpc, 'head' | 'block' | 'receipt' | 'logs'>;
};

/** Reads the chain about one reported transaction. Never rejects when the node is away. */
export async function judgeReport(
  view: TransferView | undefined,
  transfer: Omit<ReportedTransfer, 'id' | 'isOverdue'>,
): Promise<ReportVerdict> {
  if (view === undefined) return 'unknown';
  try {
    return await judge(view, transfer);
  } catch (err) {
    if (err instanceof RpcUnavailable) return 'unknown';
    throw err;
  }
}

async function judge(
  { rpc, usdc, confirmations }: TransferView,
  { txHash, fromAddress, toAddress, amountRaw }: Omit<ReportedTransfer, 'id' | 'isOverdue'>,
): Promise<ReportVerdict> {
  const receipt = await rpc.receipt(txHash);
  if (receipt === undefined) return 'pending';
  const [head, block] = await Promise.all([rpc.head(), rpc.block(receipt.blockNumber)]);
  if (block === undefined || block.hash !== receipt.blockHash) return 'pending';
  const isDeep = head.number - receipt.blockNumber >= confirmations;
  if (!receipt.succeeded) return isDeep ? 'refused' : 'pending';
  const range = { fromBlock: block.number, to: block };
  const found = (await incoming(rpc, usdc, [toAddress], range)).some(
    (transfer) =>
      transfer.txHash === receipt.txHash &&
      transfer.from === fromAddress &&
      transfer.valueRaw === amountRaw,
  );
  if (!found) return 'mismatch';
  return isDeep ? 'seen' : 'pending';
}

/** Reason of a transfer whose transaction the chain has refused. */
export const REVERTED = 'The transaction was reverted.';

/**
 * Notes the transaction that the developer reports for a transfer, and ends the transfer when the chain has decided already.
 * Throws for a transaction that moves something else, or that was reported for another transfer.
 */
export async function confirmTransfer(
  { sql, view }: { readonly sql: Sql; readonly view: TransferView | undefined },
  transfer: Transfer,
  txHash: string,
): Promise<void> {
  const { id, state } = transfer;
  if (state === 'completed' && transfer.txHash === txHash) return;
  if (planTransfer(state, 'transaction.sent') === undefined) throw transferErrors.over(state);
  const verdict = await judgeReport(view, { ...transfer, txHash });
  if (verdict === 'mismatch') throw transferErrors.transactionMismatch();
  await noteSent(sql, { id, from: state, to: 'submitted', txHash });
  if (verdict === 'pending' || verdict === 'unknown') return;
  const to = planTransfer(
    'submitted',
    verdict === 'seen' ? 'transfer.seen' : 'transaction.refused',
  );
  if (to === undefined) return;
  const reason = to === 'failed' ? { failureReason: REVERTED } : {};
  await moveTransfer(sql, { id, from: 'submitted', to, txHash, ...reason });
}

async function noteSent(sql: Sql, move: Parameters<typeof moveTransfer>[1]): Promise<void> {
  try {
    await moveTransfer(sql, move);
  } catch (err) {
    // The index of transactions holds each once, also when two requests report it at a time.
    if (refusesValue(err)) throw transferErrors.transactionUsed();
    throw err;
  }
}
