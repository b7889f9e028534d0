import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import {
  ask,
  askGuide,
  settledMoney,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

const FUNDS = 10_000_000n;
const CALLERS = 6;
const CUTS = 12;

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Every connection of the server to its database ends in the middle of whatever it carries. */
const cutConnections = () => world.sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

it('a server that loses its database connections again and again charges the amounts in its headers, once each', async () => {
  // The guide's thread may start for as long as all the cuts take, and nothing would be bought under most of them.
  const first = await world.fund('first');
  expect((await askGuide(world.url, first.agentKey)).status).toBe(200);
  const agent = await world.fund('steady', FUNDS);
  const credits = new Set<string>();
  const seen = new Map<number, number>();
  let chargedRaw = 0n;
  let finished = false;

  async function buy(): Promise<void> {
    while (!finished) {
      const { status, headers } = await askGuide(world.url, agent.agentKey);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      if (status === 200) chargedRaw += BigInt(headers.get('x-svc-cost-usdc') ?? '-1');
      // The limit of an agent's requests is not what is tested here.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  async function credit(): Promise<void> {
    for (let n = 0; !finished; n++) {
      const { status } = await ask(`${world.url}/v1/admin/agents/${agent.agentId}/credit`, {
        headers: { 'x-admin-key': world.adminApiKey },
        body: { amountRaw: '1', reference: `drop-${n}` },
      });
      seen.set(status, (seen.get(status) ?? 0) + 1);
      if (status === 200) credits.add(`drop-${n}`);
    }
  }

  const load = Promise.all([credit(), ...Array.from({ length: CALLERS }, buy)]);
  for (let n = 0; n < CUTS; n++) {
    await new Promise((resolve) => setTimeout(resolve, 60 + 20 * n));
    await cutConnections();
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  finished = true;
  await load;

  const money = await settledMoney(world.sql, agent.agentId);
  expect(money.charged, JSON.stringify([...seen])).toBe(chargedRaw);
  expect(money.credited).toBe(FUNDS + BigInt(credits.size));
  expect(money.spendable).toBe(money.credited - money.charged);
  expect(await checkInvariants(world.sql)).toEqual([]);
  // A plain read that met the cut is told as what it is: the database was away.
  expect([...seen.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(seen.get(200)).toBeGreaterThan(CUTS);
});
