import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { findHold } from '../../../src/ledger/store/orphan-store.ts';
import { createDocumentJobs } from '../../../src/marketplace/documents/document-jobs.ts';
import type { JobPoint } from '../../../src/marketplace/documents/job-deps.ts';
import { createVendorFiles } from '../../../src/marketplace/documents/vendor-files.ts';
import { createFileFetch } from '../../../src/marketplace/fetch-file.ts';
import { createMarketAddress } from '../../../src/marketplace/market-address.ts';
import { createMarketSlots } from '../../../src/marketplace/market-slots.ts';
import { openAccounts } from '../../../src/marketplace/open-accounts.ts';
import { claimTripwire } from '../../../src/marketplace/tripwires/tripwire-store.ts';
import { createTripwires } from '../../../src/marketplace/tripwires/tripwires.ts';
import { sarvam } from '../../../src/marketplace/vendors/sarvam.ts';
import { insertPassthroughs } from '../../../src/payments/proxy/passthrough-store.ts';
import { refusePayment } from '../../../src/payments/proxy/refuse-payment.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { testDatabase } from '../database.ts';
import { askerNamed, guardedClient } from '../guarded.ts';
import { seedAgents } from '../ledger-world.ts';
import { pdfOf } from '../pdf.ts';
import { processOn } from '../reaping-process.ts';
import { startDocumentPeer } from './document-peer.ts';
import { KEY } from './vendor-peer.ts';

const LEASE_MS = 60_000;
const URL_OF_JOBS = 'https://m.example/v1/doc/sarvam';

export type DocumentAgent = { readonly agentId: number; readonly accountId: string };

export type JobRow = {
  readonly id: string;
  readonly step: string;
  readonly cost_raw: bigint | null;
  readonly verdict: { readonly error: { readonly code: string } | null } | null;
};

export type DocumentWorld = Awaited<ReturnType<typeof startDocumentWorld>>;

/** A statement, by a part of it, behind whose commit the connection is lost once, or before which something happens once. */
type Cut = {
  readonly behind?: string;
  readonly before?: string;
  readonly meanwhile?: () => Promise<void>;
  /** The ledger holds, and its answer is lost. */
  readonly isHoldLost?: boolean;
};

const connectionClosed = () =>
  Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });

/** The database over a connection that is cut: the statement is done, and its reply never comes. */
function cutAt(sql: Sql, cut: Cut | undefined): Sql {
  let isCut = cut === undefined;
  return new Proxy(sql, {
    apply(target, self, args: Parameters<Sql>) {
      const [strings] = args as readonly unknown[];
      const text = Array.isArray(strings) ? strings.join('') : '';
      const run = () => Reflect.apply(target, self, args);
      const { before, behind, meanwhile = async () => {} } = cut ?? {};
      const part = behind ?? before;
      if (isCut || part === undefined || !text.includes(part)) return run();
      isCut = true;
      if (before !== undefined) return meanwhile().then(run);
      return run().then(async () => {
        await meanwhile();
        throw connectionClosed();
      });
    },
  });
}

/**
 * Jobs of documents in several processes on one database, with one vendor, which has so long for one step. Due times are moved
 * by the test.
 */
export async function startDocumentWorld(vendorMs = 10_000) {
  const db = await testDatabase(24);
  const { sql } = db;
  const peer = await startDocumentPeer();
  const outbound = createFetch();
  const client = guardedClient();
  const accounts = openAccounts([sarvam], (name) =>
    name === 'VENDOR_SARVAM_BASE_URL' ? peer.baseUrl : KEY,
  );
  let processes = 0;

  /** A process, which stands still for ever at a point of the work where it is told to, or loses its database once. */
  async function aProcess(dies?: JobPoint, cut?: Cut) {
    const own = await processOn(sql, `process ${++processes}`, LEASE_MS);
    let hasDied = () => {};
    const died = new Promise<void>((resolve) => {
      hasDied = resolve;
    });
    const ledger: Pick<Ledger, 'funds' | 'hold' | 'settle'> = {
      funds: (agentId) => own.ledger.funds(agentId),
      settle: (request) => own.ledger.settle(request),
      async hold(request) {
        const verdict = await own.ledger.hold(request);
        if (cut?.isHoldLost) throw connectionClosed();
        return verdict;
      },
    };
    const world = {
      sql: cutAt(sql, cut),
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
    };
    const jobs = createDocumentJobs({
      ...world,
      ledger,
      fetch: outbound.fetch,
      vendors: [sarvam],
      accounts,
      rooms: createMarketSlots(),
      address: createMarketAddress(() => 'https://m.example'),
      tripwires: createTripwires({ ...world, claim: (of) => claimTripwire(sql, of) }),
      files: createVendorFiles({ client, clock: systemClock, fileMs: vendorMs }),
      fetchFile: createFileFetch({ client, clock: systemClock }),
      note: insertPassthroughs,
      vendorMs,
      fileCallerOf: ({ agentId }) => ({
        admitHost: async () => {},
        asker: askerNamed(String(agentId)),
      }),
      findHold: (id) => findHold(sql, id),
      async findOwner(agentId) {
        const [row] = await sql<{ accountId: string; wallet: string }[]>`
          select account_id as "accountId", wallet_address as wallet from agents where id = ${agentId}`;
        return row;
      },
      onPoint(point) {
        if (point !== dies) return undefined;
        hasDied();
        return new Promise(() => {});
      },
    });
    /** Takes each living job one step on, however far away its time is. */
    const step = async () => {
      // Several processes do this at once: waiting for each other's rows would be a deadlock.
      await sql`
        update marketplace_jobs set due_at = now() where id in (
          select id from marketplace_jobs where ended_at is null order by id for update skip locked)`;
      await jobs.worker.tick();
      await Promise.race([jobs.idle(), died]);
    };
    return { ...own, jobs, died, step };
  }

  const main = await aProcess();
  const submitAt = (
    { jobs }: Pick<typeof main, 'jobs'>,
    { accountId, agentId }: DocumentAgent,
    body: Record<string, unknown> = {},
    more: { readonly workId?: string; readonly signal?: AbortSignal } = {},
  ) =>
    jobs.submit({
      accountId,
      spender: { agentId, taskId: 'task' },
      vendor: 'sarvam',
      host: 'm.example',
      url: URL_OF_JOBS,
      refusalOfHold: refusePayment,
      workId: more.workId,
      signal: more.signal ?? new AbortController().signal,
      body: { documentBase64: pdfOf(3).toString('base64'), ...body },
    });

  return {
    sql,
    peer,
    main,
    aProcess,
    submitAt,
    async agent(amountRaw = 1_000_000n): Promise<DocumentAgent> {
      const [seeded] = await seedAgents(sql, 1);
      const agentId = seeded?.agentId ?? 0;
      await sql`update agents set wallet_address = ${`0x${agentId}`} where id = ${agentId}`;
      const reference = `credit ${agentId}`;
      if (amountRaw > 0n) await main.ledger.credit({ agentId, amountRaw, reference });
      const [row] = await sql<{ accountId: string }[]>`
        select account_id as "accountId" from agents where id = ${agentId}`;
      return { agentId, accountId: row?.accountId ?? '' };
    },
    submit: (agent: DocumentAgent, body?: Record<string, unknown>) => submitAt(main, agent, body),
    /** Goes on with all jobs until none lives. */
    async finish(of: Pick<typeof main, 'step'> = main, most = 12) {
      for (let steps = 0; steps < most; steps++) {
        const [row] = await sql<{ living: number }[]>`
          select count(*)::int as living from marketplace_jobs where ended_at is null`;
        if (row?.living === 0) return;
        await of.step();
      }
      throw new Error('a job lives on');
    },
    rows: ({ agentId }: DocumentAgent) =>
      sql<JobRow[]>`select * from marketplace_jobs where agent_id = ${agentId} order by created_at`,
    /** What is charged, what the history has, and what was told, of an agent. */
    async traces({ agentId }: DocumentAgent) {
      const charges = await sql<{ cost: bigint; status: string; usage: unknown }[]>`
        select cost_raw as cost, status, usage from charges where agent_id = ${agentId} order by id`;
      const lines = await sql<{ cost: bigint }[]>`
        select cost_raw as cost from proxy_passthroughs where agent_id = ${agentId} order by id`;
      const events = await sql<{ name: string; payload: Record<string, unknown> }[]>`
        select name, payload from events
        where agent_wallet = ${`0x${agentId}`} and name like 'marketplace.%' order by id`;
      return { charges, lines: lines.map(({ cost }) => cost), events };
    },
    /** Money as the database has it, in raw units. */
    async money({ agentId }: DocumentAgent) {
      const [row] = await sql<{ spendable: bigint; held: bigint }[]>`
        select spendable_raw as spendable, held_raw as held from agent_funds
        where agent_id = ${agentId}`;
      return row ?? { spendable: 0n, held: 0n };
    },
    faults: () => checkInvariants(sql),
    async [Symbol.asyncDispose]() {
      await outbound.abort();
      await client[Symbol.asyncDispose]();
      await peer[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}
