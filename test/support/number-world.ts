import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { Ledger } from '../../src/ledger/rules/ledger.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { createNumbers } from '../../src/phone/numbers/numbers.ts';
import { renewNumbers } from '../../src/phone/numbers/renew-numbers.ts';
import { RATE_CARD } from '../../src/phone/rate-card.ts';
import type { Span } from '../../src/platform/tracing/span.ts';
import { testDatabase } from './database.ts';
import { seedAgents } from './ledger-world.ts';
import { ManualClock } from './manual-clock.ts';
import { processOn } from './reaping-process.ts';
import { ScriptedCarrier } from './scripted-carrier.ts';

export const RENTAL_RAW = RATE_CARD.rentalRaw;
const LEASE_MS = 60_000;

export type RentingAgent = { readonly agentId: number; readonly accountId: string };

export type NumberRow = {
  readonly id: number;
  readonly status: string;
  readonly phone_number: string;
  readonly carrier_number_id: string | null;
  readonly paid_months: number;
  readonly next_renewal_at: Date | null;
  readonly grace_until: Date | null;
  readonly release_reason: string | null;
  readonly due_at: Date | null;
  readonly returned_at: Date | null;
};

export type NumberWorld = Awaited<ReturnType<typeof startNumberWorld>>;

/** Numbers on a database of their own, with a scripted carrier, and a time that a test moves. */
export async function startNumberWorld(startMs = Date.UTC(2026, 0, 31, 12)) {
  const db = await testDatabase(24);
  const { sql } = db;
  const clock = new ManualClock(startMs);
  const carrier = new ScriptedCarrier();
  const main = await processOn(sql, 'main', LEASE_MS);

  /** The numbers as one process has them, with its own ledger. */
  const processWith = (ledger: Pick<Ledger, 'hold' | 'settle'>) => {
    const own = { sql, ledger, clock, now: () => clock.now(), log: silentLog };
    return {
      numbers: createNumbers({
        countries: ['US', 'DE'],
        ...own,
        seller: carrier,
        random: systemRandom,
        rateCard: RATE_CARD,
      }),
      tick: renewNumbers({ ...own, seller: carrier }).tick,
    };
  };
  const { numbers, tick } = processWith(main.ledger);

  async function agents(count: number, amountRaw: bigint): Promise<RentingAgent[]> {
    const seeded = await seedAgents(sql, count);
    return Promise.all(
      seeded.map(async ({ agentId }) => {
        await sql`update agents set wallet_address = ${`0xagent${agentId}`} where id = ${agentId}`;
        if (amountRaw > 0n) await credit(agentId, amountRaw);
        const [row] = await sql<{ account: string }[]>`
          select account_id as account from agents where id = ${agentId}`;
        return { agentId, accountId: row?.account ?? '' };
      }),
    );
  }

  let credits = 0;
  const credit = (agentId: number, amountRaw: bigint) =>
    main.ledger.credit({ agentId, amountRaw, reference: `credit ${++credits}` });

  return {
    sql,
    clock,
    carrier,
    main,
    numbers,
    tick,
    processWith,
    agents,
    credit,
    async agent(amountRaw: bigint): Promise<RentingAgent> {
      const [agent] = await agents(1, amountRaw);
      if (agent === undefined) throw new Error('an agent was made');
      return agent;
    },
    buy: (
      { accountId, agentId }: RentingAgent,
      body: Record<string, unknown> = { areaCode: '212' },
      span?: Span,
    ) => numbers.buy({ accountId, spender: { agentId }, span }, body),
    rows: ({ agentId }: RentingAgent) =>
      sql<NumberRow[]>`select * from phone_numbers where agent_id = ${agentId} order by id`,
    async row({ agentId }: RentingAgent): Promise<NumberRow | undefined> {
      const [row] = await sql<NumberRow[]>`
        select * from phone_numbers where agent_id = ${agentId} order by id desc limit 1`;
      return row;
    },
    charges: ({ agentId }: RentingAgent) =>
      sql<{ target_url: string; cost_raw: bigint }[]>`
        select target_url, cost_raw from charges where agent_id = ${agentId} order by id`,
    /** Names and payloads of the events of numbers. */
    events: ({ accountId }: RentingAgent) =>
      sql<{ name: string; payload: Record<string, unknown> }[]>`
        select name, payload from events
        where account_id = ${accountId} and name like 'phone.%' order by id`,
    async funds({ agentId }: Pick<RentingAgent, 'agentId'>) {
      const funds = await main.ledger.funds(agentId);
      return { spendableRaw: funds?.spendableRaw, heldRaw: funds?.heldRaw };
    },
    /** What the ledger has found wrong with itself. */
    faults: () => checkInvariants(sql),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
