import type { Clock } from '../../kernel/clock.ts';
import type { OwnAgent } from '../own-agents-store.ts';
import type { SpendReports } from '../spend-reports.ts';
import { COUNTED_SOURCES, thisMonth } from './report-window.ts';

const VENDORS_SHOWN = 100;
const AGENTS_SHOWN = 500;

/** Returns the spend of this UTC month so far, by vendor and by agent, and the period that it covers. */
export async function monthOf(
  { clock, spendReports }: { readonly clock: Clock; readonly spendReports: SpendReports },
  agents: readonly OwnAgent[],
) {
  const { end, since, start, until } = thisMonth(clock);
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  const window = { agentIds: [...names.keys()], since, until, sources: COUNTED_SOURCES };
  const [byHost, byAgent] = await Promise.all([
    spendReports.totals({ ...window, groupBy: 'host', top: VENDORS_SHOWN }),
    spendReports.totals({ ...window, groupBy: 'agent', top: AGENTS_SHOWN }),
  ]);
  const vendors = byHost.rows.map(({ costRaw, key }) => ({
    vendor: key,
    costRaw: String(costRaw),
  }));
  const others = { vendor: 'other', costRaw: String(byHost.other.costRaw) };
  return {
    totalRaw: String(byHost.total.costRaw),
    byVendor: byHost.other.calls > 0 ? [...vendors, others] : vendors,
    byAgent: byAgent.rows.map(({ calls, costRaw, key }) => ({
      agentId: Number(key),
      agentName: names.get(Number(key)) ?? '',
      costRaw: String(costRaw),
      calls,
    })),
    period: { start, end },
  };
}
