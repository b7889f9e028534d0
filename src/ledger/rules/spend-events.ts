import type { BalanceState, Companion } from './change.ts';
import type { EventRow } from './companion.ts';
import type { Rules } from './rules.ts';

/** Threshold in bps from which an upward crossing is the event `credit.at_limit`; below, it is `credit.warning`. */
const AT_LIMIT_BPS = 9_500;
const WHOLE_BPS = 10_000n;

/** Amounts of an agent from which its utilization is computed. */
export type Utilized = Pick<BalanceState, 'creditedRaw' | 'consumedRaw' | 'heldRaw'>;

/** Returns the money that has gone out: spent, or held for work in flight. */
export const outRaw = ({ consumedRaw, heldRaw }: Omit<Utilized, 'creditedRaw'>): bigint =>
  consumedRaw + heldRaw;

/**
 * Returns the share of all credited money that has gone out, in bps. Routes show this figure and thresholds compare with it.
 */
export function utilizationBps(state: Utilized): number {
  if (state.creditedRaw === 0n) return 0;
  return Number((outRaw(state) * WHOLE_BPS) / state.creditedRaw);
}

/** Returns an event of this agent, with the fields that identify the agent. */
const agentEvent = (
  name: string,
  rules: Rules,
  agentId: number,
  payload: EventRow['payload'],
): EventRow => ({
  name,
  accountId: rules.accountId,
  agentWallet: rules.walletAddress,
  correlationId: null,
  payload: { agentId, agentWalletAddress: rules.walletAddress, ...payload },
});

/** Returns the `agent.suspended` event, for a cap that suspends its agent. */
export const agentSuspended = (rules: Rules, agentId: number, policyId: number): EventRow =>
  agentEvent('agent.suspended', rules, agentId, {
    policyId,
    reason: `policy:${policyId}`,
    status: 'suspended',
  });

/** Returns the thresholds that lie between two states, with their events. Each crossing is reported once. */
export function crossedThresholds(
  rules: Rules,
  agentId: number,
  before: BalanceState,
  after: BalanceState,
): Companion[] {
  if (rules.thresholds.length === 0) return [];
  const [was, is] = [utilizationBps(before), utilizationBps(after)];
  return rules.thresholds.flatMap(({ id, thresholdBps, webhookId }): Companion[] => {
    const above = is >= thresholdBps;
    if (was >= thresholdBps === above) return [];
    const upwards = thresholdBps >= AT_LIMIT_BPS ? 'credit.at_limit' : 'credit.warning';
    const event = agentEvent(above ? upwards : 'credit.recovered', rules, agentId, {
      thresholdId: id,
      thresholdBps,
      utilizationBps: is,
      available: after.spendableRaw.toString(),
    });
    return [
      { row: 'threshold.crossed', thresholdId: id, state: above ? 'above' : 'below' },
      { row: 'event', event: { ...event, webhookId } },
    ];
  });
}
