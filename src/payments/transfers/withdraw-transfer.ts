import { assert } from '../../kernel/assert.ts';
import type { Random } from '../../kernel/random.ts';
import type { Ledger, TransferVerdict } from '../../ledger/rules/ledger.ts';
import { transferErrors } from '../errors.ts';
import { newPayout } from '../payouts/payout.ts';
import type { NewTransfer } from './transfer.ts';

export type WithdrawDeps = {
  readonly ledger: Pick<Ledger, 'transfer'>;
  readonly random: Random;
};

/** Withdraws the amount of a transfer in the ledger and plans its payout, in one commit. May be repeated. */
export async function withdrawTransfer(
  { ledger, random }: WithdrawDeps,
  transfer: NewTransfer,
): Promise<TransferVerdict> {
  const { agentId, amountRaw, fromAddress: wallet, nonce, toAddress: payee } = transfer;
  assert(nonce !== null, 'a payout has its nonce from the beginning');
  const payout = { ...newPayout(random, 'transfer', { wallet, payee }), nonce };
  const reference = `transfer:${transfer.id}`;
  return ledger.transfer({ agentId, reference, amountRaw, payout });
}

/** Throws 409 when the balance had become too small for a transfer. */
export function requireWithdrawn(
  { amountRaw }: Pick<NewTransfer, 'amountRaw'>,
  verdict: TransferVerdict,
): void {
  if (verdict.kind === 'withdrawn') return;
  throw transferErrors.insufficientBalance(amountRaw, verdict.availableRaw);
}
