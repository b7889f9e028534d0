import type { Agent } from '../../accounts/agents/agent.ts';
import { isoTime } from '../../kernel/clock.ts';
import { outRaw, utilizationBps } from '../../ledger/rules/spend-events.ts';
import type { SpendState } from '../../ledger/rules/spend-state.ts';

/**
 * Returns the agent's available money, credit and session limit. Amounts are digit strings, null only without a session
 * limit.
 */
export function creditRemaining(agent: Agent, spendState: SpendState) {
  const { state, caps, availableRaw, position } = spendState;
  const session = caps.find(({ policy }) => policy.kind === 'session' && policy.agentId !== null);
  const available = availableRaw.toString();
  return {
    available,
    creditIn: state.creditedRaw.toString(),
    creditOut: outRaw(state).toString(),
    creditLimit: limitRaw(agent).toString(),
    // Nothing is borrowed automatically, so the available amount is all there is before the agent stops.
    headroomToAutoBorrow: available,
    utilizationBps: utilizationBps(state),
    sessionSpendLimit: session?.policy.limitRaw.toString() ?? null,
    sessionSpent: (session?.spentRaw ?? 0n).toString(),
    sessionSpendRemaining: session?.remainingRaw.toString() ?? null,
    asOf: isoTime(position.nowMs),
  };
}

/** Returns the state of the agent's loans. Without loans it is `idle`, or `at_limit` when its credit line is used up. */
export function loanState(agent: Agent, spendState: SpendState) {
  const isAtLimit =
    agent.fundingMode === 'credit_line' &&
    spendState.availableRaw === 0n &&
    outRaw(spendState.state) >= limitRaw(agent);
  return {
    state: isAtLimit ? ('at_limit' as const) : ('idle' as const),
    reason: isAtLimit ? 'credit_exhausted' : 'no_active_loans',
    details: {
      available: spendState.availableRaw.toString(),
      creditLimit: limitRaw(agent).toString(),
    },
  };
}

const limitRaw = (agent: Agent): bigint => agent.borrowLimitRaw ?? 0n;
