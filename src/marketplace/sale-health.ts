import type { Clock } from '../kernel/clock.ts';
import type { Worker } from '../kernel/schedule.ts';
import { VendorFailed, VendorGaveUp } from '../models/providers/vendors/vendor-api.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import { VendorRefused } from './vendor.ts';

/** Result of a vendor's sales in one process since the last write to the database. */
export type SoldLately = {
  readonly vendor: string;
  /** Latency of the last sale in milliseconds. */
  readonly latency: number;
  /** Failed sales in a row, up to the last sale. */
  readonly failures: number;
  /** True when at least one sale was delivered. */
  readonly delivered: boolean;
};

export interface SaleHealth {
  /** Runs the call of a vendor, and remembers its success and its time. */
  watch<T>(vendor: string, ask: () => Promise<T>): Promise<T>;
  /** Writes the remembered sales, a row a vendor. */
  readonly worker: Worker;
}

/** Records the health of vendors from agents' own sales, for a server that does not probe its vendors. */
export function createSaleHealth({
  clock,
  note,
}: {
  readonly clock: Clock;
  readonly note: (sales: readonly SoldLately[]) => Promise<void>;
}): SaleHealth {
  /** The latest sales, one entry for each vendor. */
  let lately = new Map<string, SoldLately>();

  function add(vendor: string, isDelivered: boolean, tookMs: number): void {
    const before = lately.get(vendor);
    const failures = isDelivered ? 0 : (before?.failures ?? 0) + 1;
    const delivered = isDelivered || before?.delivered === true;
    lately.set(vendor, { vendor, latency: Math.round(tookMs), failures, delivered });
  }

  return {
    async watch(vendor, ask) {
      const beganMs = clock.monotonicMs();
      const took = () => clock.monotonicMs() - beganMs;
      try {
        const got = await ask();
        add(vendor, true, took());
        return got;
      } catch (error) {
        if (isVendors(error)) add(vendor, false, took());
        throw error;
      }
    },
    worker: {
      name: 'note-sales',
      everyMs: MARKETPLACE_LIMITS.health.salesNotedEveryMs,
      async tick() {
        if (lately.size === 0) return;
        const written = lately;
        lately = new Map();
        await note([...written.values()]);
      },
    },
  };
}

/** Returns true when an error is the vendor's fault. A refusal of the request, or of its rate, is not. */
function isVendors(error: unknown): boolean {
  if (error instanceof VendorGaveUp) return false;
  if (!(error instanceof VendorRefused)) return error instanceof VendorFailed;
  const { status } = error.answer;
  return status >= 500 || OF_ACCOUNT.has(status) || status < 400;
}

/** HTTP statuses with which a vendor refuses this server's account. */
const OF_ACCOUNT = new Set([401, 402, 403, 407]);
