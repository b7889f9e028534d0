import { planTransfer } from '../../../machines/transfer.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import { transferErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { Payouts } from '../payouts/payouts.ts';
import { requireSession } from '../ramp/require-session.ts';
import { confirmTransfer, type TransferView } from './confirm-transfer.ts';
import type { TransferRequest } from './plan-transfer.ts';
import { type PrepareDeps, prepareTransfer } from './prepare-transfer.ts';
import { isSignedHere, type Transfer, transferRecord, transferStatus } from './transfer.ts';
import { findTransfer, findTransfers, saveOnramp } from './transfer-store.ts';
import { requireWithdrawn, withdrawTransfer } from './withdraw-transfer.ts';

export type TransfersDeps = PrepareDeps & {
  readonly ledger: Pick<Ledger, 'transfer' | 'settled'>;
  readonly payouts: Pick<Payouts, 'payNow'>;
  readonly view: TransferView | undefined;
};

export type Transfers = ReturnType<typeof createTransfers>;

/** Creates the transfers of developers. Another account's transfer reads as absent in every method. */
export function createTransfers(deps: TransfersDeps) {
  const { sql } = deps;

  async function require(accountId: string, id: string): Promise<Transfer> {
    const transfer = await findTransfer(sql, { id: id.toLowerCase(), accountId });
    if (transfer === undefined) throw transferErrors.notFound();
    return transfer;
  }

  return {
    prepare: (accountId: string, wanted: TransferRequest) =>
      prepareTransfer(deps, accountId, wanted),

    /**
     * Withdraws the amount of a prepared transfer and hands its payout to the chain. A repeat moves nothing and returns the
     * state by then.
     */
    async execute(accountId: string, id: string) {
      const transfer = await require(accountId, id);
      const { state } = transfer;
      if (!isSignedHere(transfer.direction)) throw transferErrors.wrongFlow(SIGNED_BY_DEVELOPER);
      if (planTransfer(state, 'execution.requested') === undefined) {
        if (state === 'expired' || state === 'failed') throw transferErrors.over(state);
        return transferStatus(transfer);
      }
      if (!deps.canPay) throw transferErrors.unavailable();
      requireWithdrawn(transfer, await withdrawTransfer(deps, transfer));
      await deps.payouts.payNow(transfer.agentId);
      return transferStatus(await require(accountId, id));
    },

    /**
     * Notes the transaction with which the developer has made a transfer. Credits nothing: only the chain's own logs credit an
     * agent.
     */
    async confirm(accountId: string, id: string, txHash: string) {
      const transfer = await require(accountId, id);
      if (isSignedHere(transfer.direction)) throw transferErrors.wrongFlow(SIGNED_HERE);
      await confirmTransfer(deps, transfer, txHash);
      return transferStatus(await require(accountId, id));
    },

    /** Notes that a transfer carries on the purchase of a session of the on-ramp. */
    async linkOnramp(accountId: string, id: string, onrampId: string) {
      const transfer = await require(accountId, id);
      await requireSession(sql, accountId, onrampId);
      await saveOnramp(sql, transfer.id, onrampId);
      return { ok: true as const };
    },

    async list(accountId: string, agentId: number | undefined, limit: number) {
      const { most } = PAYMENT_LIMITS.transfer.page;
      const page = { agentId, limit: Math.min(Math.max(limit, 1), most) };
      return (await findTransfers(sql, accountId, page)).map(transferRecord);
    },
  };
}

const SIGNED_BY_DEVELOPER =
  'This transfer is signed by the wallet of the developer. Send the transaction of the prepared transfer, then confirm its hash.';
const SIGNED_HERE =
  'This server signs this transfer and watches it. Execute it; nothing is confirmed.';
