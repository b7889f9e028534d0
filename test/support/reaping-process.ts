import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createLedger } from '../../src/ledger/engine/ledger.ts';
import { createLeaseKeeper } from '../../src/ledger/engine/renew-lease.ts';
import { createSettleOrphans } from '../../src/ledger/engine/settle-orphans.ts';
import { createBalanceStore } from '../../src/ledger/store/balances.ts';
import { takeLease } from '../../src/ledger/store/lease-store.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { DESTINATION } from './spending.ts';

const NEVER = new AbortController().signal;

/** One process's share of the money: its lease, its ledger, its reaper. */
export async function processOn(sql: Sql, nodeId: string, leaseMs: number, signal = NEVER) {
  const node = await takeLease(sql, nodeId, leaseMs);
  const deps = { sql, node, clock: systemClock, log: silentLog };
  const ledger = createLedger({ ...deps, store: createBalanceStore(deps) });
  const lease = createLeaseKeeper({ ...deps, leaseMs });
  const reaper = (mayReap: () => boolean) =>
    createSettleOrphans({ ...deps, ledger, lease: { mayReap }, signal });
  /** `atOnce` does not wait for a whole lease first. */
  return { ledger, lease, node, orphans: reaper(lease.mayReap), atOnce: reaper(() => true) };
}

/** What a live session is opened with, beside its name, its money and its spender. */
export const LIVE_SESSION = {
  kind: 'realtime',
  target: 'gateway://local/guide',
  model: 'local/guide',
  destination: DESTINATION,
  account: 'gateway',
} as const;
