import { agentErrors } from '../../accounts/errors.ts';
import type { Invalidations } from '../../accounts/keys/invalidations.ts';
import { assert } from '../../kernel/assert.ts';
import { utilizationBps } from '../../ledger/rules/spend-events.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { webhookErrors } from '../../webhooks/errors.ts';
import { controlErrors } from '../errors.ts';
import { SPEND_LIMITS } from '../limits.ts';
import {
  type CreditThreshold,
  deleteThreshold,
  findThresholds,
  insertThreshold,
  lockFunding,
} from './credit-threshold-store.ts';

export type CreditThresholds = ReturnType<typeof createCreditThresholds>;

/**
 * Creates the reads and changes of an agent's funding thresholds. The ledger finds crossings, in the commit that makes
 * them.
 */
export function createCreditThresholds(deps: {
  readonly sql: Sql;
  readonly invalidations: Invalidations;
}) {
  const { sql, invalidations } = deps;
  return {
    async list(agentId: number) {
      return (await findThresholds(sql, agentId)).map(thresholdRecord);
    },

    /** Creates a threshold, which starts on the agent's present side of it: earlier crossings are not reported. */
    async create(agentId: number, wanted: { thresholdBps: number; webhookId: number | null }) {
      const { thresholdBps, webhookId } = wanted;
      const made = await invalidations.commit({ kind: 'agent_changed', agentId }, async (tx) => {
        const funding = await lockFunding(tx, agentId);
        assert(funding !== undefined, 'every agent has a balance');
        const known = await findThresholds(tx, agentId);
        if (known.length >= SPEND_LIMITS.awareness.thresholdsPerAgent) {
          throw agentErrors.limitExceeded(
            SPEND_LIMITS.awareness.thresholdsPerAgent,
            'thresholds for each agent',
          );
        }
        const lastState = utilizationBps(funding) >= thresholdBps ? 'above' : 'below';
        const threshold = await insertThreshold(tx, agentId, {
          thresholdBps,
          lastState,
          webhookId,
        });
        if (threshold === undefined) throw webhookErrors.notFound();
        return threshold;
      });
      return thresholdRecord(made);
    },

    async remove(agentId: number, thresholdId: number) {
      await invalidations.commit({ kind: 'agent_changed', agentId }, async (tx) => {
        if (!(await deleteThreshold(tx, agentId, thresholdId))) {
          throw controlErrors.thresholdNotFound();
        }
        return thresholdId;
      });
      return { deleted: thresholdId };
    },
  };
}

const thresholdRecord = (threshold: CreditThreshold) => ({
  ...threshold,
  lastFiredAt: threshold.lastFiredAt?.toISOString() ?? null,
});
