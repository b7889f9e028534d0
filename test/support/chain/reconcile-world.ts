import { pino } from 'pino';
import { buildReconciler } from '../../../src/app/build/payments/build-reconciler.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { takeLease } from '../../../src/ledger/store/lease-store.ts';
import type { PaymentAlarm } from '../../../src/payments/reconcile/payment-alarm.ts';
import type { ReconcilePayments } from '../../../src/payments/reconcile/reconcile-payments.ts';
import { createRpc } from '../../../src/platform/chain/rpc.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { testDatabase } from '../database.ts';
import { liveLedger } from '../ledger-load.ts';
import type { AnvilOptions } from './anvil.ts';
import { type Chain, startChain } from './chain.ts';
import { USDC } from './eip3009.ts';
import type { LogLine } from './paying-server.ts';
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts';

/** One process, as far as the reconciler goes: it ticks when it is told to. */
export type Reader = ReconcilePayments & { readonly ledger: LiveLedger };

export type ReconcileWorld = AsyncDisposable & {
  readonly chain: Chain;
  /** What stands between the readers and the chain. */
  readonly node: RpcProxy;
  readonly sql: Sql;
  /** The first of the readers; the chain has been read up to now. */
  readonly reader: Reader;
  /** One more process on the same database. */
  another(name: string): Promise<Reader>;
  /** What all of them logged from `error` on. */
  readonly errors: LogLine[];
  /** What an operator was alarmed of, by all of them. */
  readonly alarms: PaymentAlarm[];
};

const AN_HOUR_MS = 3_600_000;

/** A chain, a database and the reconciler that compares them, without a server. */
export async function startReconcileWorld(
  options: AnvilOptions & { readonly auditRestMs?: number } = {},
): Promise<ReconcileWorld> {
  const { auditRestMs = AN_HOUR_MS, ...ofChain } = options;
  const chain = await startChain(ofChain);
  const node = await startRpcProxy(chain.url);
  const database = await testDatabase();
  const { fetch, close } = createFetch();
  const errors: LogLine[] = [];
  const alarms: PaymentAlarm[] = [];
  const log = pino(
    { level: 'error', base: null },
    { write: (line) => errors.push(JSON.parse(line)) },
  );
  const { sql } = database;
  const ledgers: LiveLedger[] = [];
  const another = async (name: string): Promise<Reader> => {
    // A process without a lease counts as gone, and its claims are free.
    await takeLease(sql, name, AN_HOUR_MS);
    const ledger = liveLedger(sql, name);
    ledgers.push(ledger);
    const view = { rpc: createRpc({ url: node.url, fetch }), usdc: USDC, confirmations: 0 };
    const world = { sql, clock: systemClock, log };
    const parts = {
      ledger,
      view,
      nodeId: name,
      payouts: { payAgain: async () => {} },
      onAlarm: (alarm: PaymentAlarm) => void alarms.push(alarm),
      auditRestMs,
    };
    return { ledger, ...buildReconciler(world, parts) };
  };
  const reader = await another('first');
  await reader.tick();
  return {
    chain,
    node,
    sql,
    reader,
    another,
    errors,
    alarms,
    async [Symbol.asyncDispose]() {
      for (const ledger of ledgers) await ledger[Symbol.asyncDispose]();
      await close();
      await database[Symbol.asyncDispose]();
      await node[Symbol.asyncDispose]();
      await chain[Symbol.asyncDispose]();
    },
  };
}
