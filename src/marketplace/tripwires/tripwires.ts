import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import type { EventRow } from '../../ledger/rules/companion.ts';
import { tripwireTriggered } from '../../webhooks/payment-event.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';
import type { Deviation } from './deviation.ts';

/** Account that gets the event, and the wallet of its agent. */
export type Owner = { readonly accountId: string; readonly wallet: string | null };

export type TripwireDeps = {
  readonly clock: Clock;
  readonly log: Log;
  /** Claims the report of a tripwire. Returns true for one process, once an hour. */
  readonly claim: (of: {
    readonly agentId: number;
    readonly vendor: string;
    readonly tripwire: string;
  }) => Promise<boolean>;
};

export interface Tripwires {
  /**
   * Returns the events of a vendor's departures from an order, for the commit that settles: at most one an hour for an agent, a
   * vendor and a tripwire, over all processes. Never rejects, since a sale stands without its events.
   */
  eventsOf(
    sale: {
      readonly agentId: number;
      readonly vendor: string;
      readonly reference: string;
      readonly owner: () => Promise<Owner | undefined>;
    },
    departures: readonly Deviation[],
  ): Promise<readonly EventRow[]>;
}

export function createTripwires({ claim, clock, log }: TripwireDeps): Tripwires {
  const { everyMs: tripwireEveryMs, remembered: tripwiresRemembered } = MARKETPLACE_LIMITS.tripwire;
  /**
   * Time of the last claim in the database for each agent, vendor and tripwire, so that a vendor that departs at each sale
   * causes one statement an hour.
   */
  const lookedAt = new RecentMap<string, number>(tripwiresRemembered);

  async function mayReport(agentId: number, vendor: string, tripwire: string): Promise<boolean> {
    const name = `${agentId} ${vendor} ${tripwire}`;
    const nowMs = clock.monotonicMs();
    const before = lookedAt.get(name);
    if (before !== undefined && nowMs - before < tripwireEveryMs) return false;
    const mayReport = await claim({ agentId, vendor, tripwire });
    // Written after the claim, so that a claim that failed with an error is repeated at the next sale.
    lookedAt.set(name, nowMs);
    return mayReport;
  }

  return {
    async eventsOf({ agentId, owner, reference, vendor }, departures) {
      const events: EventRow[] = [];
      try {
        for (const departure of departures) {
          log.warn({ vendor, ...departure }, 'a vendor did otherwise than expected');
          if (!(await mayReport(agentId, vendor, departure.tripwire))) continue;
          const found = await owner();
          if (found === undefined) return events;
          events.push(tripwireTriggered({ ...found, vendor, reference, ...departure }));
        }
      } catch (err) {
        log.warn({ err, vendor }, 'a tripwire was not reported');
      }
      return events;
    },
  };
}
