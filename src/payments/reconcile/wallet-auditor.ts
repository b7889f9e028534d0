import type { Block } from '../../platform/chain/rpc-answers.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { type AuditDeps, auditPage } from './audit-wallets.ts';
import { retryAwaited } from './retry-awaited.ts';
import { searchDifferences } from './search-differences.ts';

/** Result of one step of the audit. */
export type Audited = {
  /** Deposits that the first reading had missed, or that had waited. */
  readonly deposits: number;
  /** Number of wallets that differ from the ledger and whose search has found no reason. */
  readonly differing: number;
};

export type WalletAuditor = {
  /**
   * Audits a bounded number of wallets and blocks again, up to block `at`, for which the books are complete. Never rejects: the
   * next step repeats failed requests.
   */
  run(at: Block): Promise<Audited | undefined>;
};

/** Creates the auditor. After a failed step the next step covers fewer blocks, since a node may refuse longer ranges. */
export function createWalletAuditor(deps: AuditDeps): WalletAuditor {
  const { least, most, fewer, more } = PAYMENT_LIMITS.audit.blocks;
  let blocks: number = most;

  const attempt = async <T>(step: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await step();
    } catch (err) {
      deps.log.warn({ err, blocks }, 'wallets could not be looked at again; tried once more');
      return undefined;
    }
  };

  return {
    async run(at) {
      const retried = await attempt(() => retryAwaited(deps, at));
      const found = await attempt(() => searchDifferences(deps, at, blocks));
      const missed = await attempt(() => auditPage(deps, at, blocks));
      const differing = await attempt(() => deps.audits.countTold());
      if (
        retried === undefined ||
        found === undefined ||
        missed === undefined ||
        differing === undefined
      ) {
        blocks = Math.max(least, Math.floor(blocks / fewer));
        return undefined;
      }
      blocks = Math.min(most, blocks * more);
      const deposits = [...retried, ...found, ...missed].filter(
        ({ kind }) => kind === 'deposit',
      ).length;
      return { deposits, differing };
    },
  };
}
