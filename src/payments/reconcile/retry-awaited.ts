import type { Block } from '../../platform/chain/rpc-answers.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { Applied } from './applied.ts';
import { type AuditDeps, readAgain } from './audit-wallets.ts';
import type { AwaitedWallet } from './awaited.ts';
import { recoverAwaited } from './recover-vanished.ts';

/**
 * Retries a bounded number of wallets whose credits wait: reads their blocks again, and credits the transfers that the chain
 * still shows once the wallet holds the sum. A wallet that fails is retried later, and keeps no other wallet waiting.
 */
export async function retryAwaited(deps: AuditDeps, at: Block): Promise<readonly Applied[]> {
  const applied: Applied[] = [];
  for (const wallet of await deps.awaited.findDue(PAYMENT_LIMITS.audit.awaitedPerTick)) {
    const { agentId, fromBlock, toBlock, looks } = wallet;
    let isOver = false;
    try {
      isOver = await retry({ ...deps, isRetry: true }, wallet, at, applied);
    } catch (err) {
      deps.log.warn({ err, agentId }, 'deposits that wait could not be looked at again');
    }
    if (isOver) {
      await deps.awaited.close(wallet);
      deps.log.warn({ agentId, fromBlock, toBlock }, 'deposits that waited are credited, or gone');
    } else {
      const { awaitedFirstMs, retryMaxMs } = PAYMENT_LIMITS.audit;
      // Twice as long after each retry in vain.
      await deps.awaited.postpone(wallet, Math.min(retryMaxMs, awaitedFirstMs * 2 ** looks));
    }
  }
  return applied;
}

/** Returns whether nothing waits any more. */
async function retry(
  deps: AuditDeps,
  wallet: AwaitedWallet,
  at: Block,
  applied: Applied[],
): Promise<boolean> {
  const { fromBlock, toBlock } = wallet;
  // After a reorganisation the chain may be shorter than it was.
  if (toBlock > at.number) return false;
  // Read whole: a part of its deposits may fit where all do not.
  const waiting = await readAgain(deps, [wallet], { fromBlock, toBlock }, at, applied);
  const isRecovered = await recoverAwaited(deps, wallet, at);
  return waiting.size === 0 && isRecovered;
}
