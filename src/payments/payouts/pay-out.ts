import { type ManagedWallets, walletReference } from '../../accounts/wallets/managed-wallets.ts';
import type { Log } from '../../kernel/log.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Facilitator } from '../../platform/chain/facilitator.ts';
import { RpcReverted } from '../../platform/chain/rpc.ts';
import type { TokenDomain } from '../../x402/authorization.ts';
import type { ChainJudge } from '../reconcile/judge-by-chain.ts';
import { authorizationOf, type ClaimedPayout } from './payout.ts';

/** The signer for the agents' wallets, and the facilitator that submits signed transfers to the chain. */
export type PayoutSender = {
  readonly wallets: Pick<ManagedWallets, 'signTransfer'>;
  readonly facilitator: Facilitator;
};

export type PayOutDeps = {
  readonly sender: PayoutSender;
  readonly domain: TokenDomain;
  readonly judge: Pick<ChainJudge, 'ask'>;
  readonly ledger: Pick<Ledger, 'paid'>;
  readonly submitted: (nonce: string, txHash: string) => Promise<void>;
  readonly log: Log;
};

/** Matches the token contract's error for an authorization that was carried out before. */
const USED = /authorization is used/i;

/**
 * Submits one payout to the chain. Any process may repeat this at any time: the chain accepts a nonce once. Never rejects:
 * after a failure the payout stays open for its next attempt.
 */
export async function payOut(deps: PayOutDeps, payout: ClaimedPayout): Promise<void> {
  const { sender, domain, log } = deps;
  const { nonce, agentId, kind, attempts } = payout;
  try {
    const reference = walletReference({ accountId: payout.accountId, id: agentId });
    const authorization = authorizationOf(payout);
    const signature = await sender.wallets.signTransfer(reference, domain, authorization);
    const txHash = await sender.facilitator.submitTransfer(authorization, signature);
    await deps.submitted(nonce, txHash);
    log.info({ nonce, agentId, kind, txHash }, 'a payout was handed to the chain');
  } catch (err) {
    if (err instanceof RpcReverted) return hearRefusal(deps, payout, err);
    log.warn(
      { err, nonce, agentId, attempts },
      'a payout did not reach the chain; it is tried again',
    );
  }
}

/**
 * Handles the token's refusal of a payout. Most likely the payout has been carried out, which the reconciler reads. A log that
 * the reconciler may have missed is sought here, in blocks with the same confirmations.
 */
async function hearRefusal(
  { judge, ledger, log }: PayOutDeps,
  payout: ClaimedPayout,
  refusal: RpcReverted,
): Promise<void> {
  const { nonce, agentId, amountRaw, attempts } = payout;
  try {
    const asked = { ...payout, valueRaw: amountRaw, reservedMs: payout.createdMs };
    const verdict = await judge.ask(asked);
    if (verdict.kind === 'used') {
      await ledger.paid({ agentId, nonce, amountRaw, txHash: verdict.txHash });
    } else if (!USED.test(refusal.message)) {
      log.error({ err: refusal, nonce, agentId, attempts }, 'the token refuses a payout');
    }
  } catch (err) {
    log.warn({ err, nonce, agentId }, 'a payout that was made could not be written');
  }
}
