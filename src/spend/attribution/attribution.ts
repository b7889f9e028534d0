import { requireAgent } from '../../accounts/agents/require-agent.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { attributionErrors } from '../errors.ts';
import { type Action, findActions } from './action-store.ts';
import { type Charge, findRecentCharges } from './charge-store.ts';
import { findGatewayUsage } from './gateway-usage-store.ts';
import { type OutcomeReport, outcomeRecord } from './outcome.ts';
import { saveOutcome } from './outcome-store.ts';
import { normalTag } from './tag.ts';

export type Attribution = ReturnType<typeof createAttribution>;

/**
 * Creates the reports of outcomes and the reads of spending by action, charge and model. Another developer's agent
 * reads as absent.
 */
export function createAttribution({ sql }: { readonly sql: Sql }) {
  async function report(agentId: number, actionText: string, outcome: OutcomeReport) {
    const actionId = requireActionId(actionText);
    return { actionId, outcome: outcomeRecord(await saveOutcome(sql, agentId, actionId, outcome)) };
  }

  return {
    /** Records an outcome that the agent itself reports. The caller was authenticated before. */
    report,

    async reportAsOwner(
      accountId: string,
      agentId: number,
      actionText: string,
      outcome: OutcomeReport,
    ) {
      await requireAgent(sql, { accountId, agentId });
      return report(agentId, actionText, outcome);
    },

    async actions(accountId: string, agentId: number, limit: number) {
      await requireAgent(sql, { accountId, agentId });
      return { actions: (await findActions(sql, agentId, limit)).map(actionRecord) };
    },

    /** Returns the last `limit` charges of all agents of an account. */
    async recentCharges(accountId: string, limit: number) {
      return { charges: (await findRecentCharges(sql, accountId, limit)).map(chargeRecord), limit };
    },

    async gatewayUsage(accountId: string, agentId: number) {
      await requireAgent(sql, { accountId, agentId });
      const { totalCalls, totalCostRaw, byModel } = await findGatewayUsage(sql, agentId);
      return {
        totalCalls,
        totalCostRaw: totalCostRaw.toString(),
        byModel: byModel.map((each) => ({ ...each, costRaw: each.costRaw.toString() })),
      };
    },
  };
}

function requireActionId(text: string): string {
  const actionId = normalTag(text);
  if (actionId === undefined) throw attributionErrors.invalidActionId();
  return actionId;
}

const chargeRecord = ({ session, ...charge }: Charge) => ({
  ...charge,
  time: charge.time.toISOString(),
  amountRaw: charge.amountRaw.toString(),
  ...(session !== null && { session }),
});

const actionRecord = (action: Action) => ({
  actionId: action.actionId,
  calls: action.calls,
  spentRaw: action.spentRaw.toString(),
  firstSeen: action.firstSeen?.toISOString() ?? null,
  lastSeen: action.lastSeen?.toISOString() ?? null,
  outcome: action.outcome === null ? null : outcomeRecord(action.outcome),
});
