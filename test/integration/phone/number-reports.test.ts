import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findUsage } from '../../../src/phone/numbers/usage-store.ts';
import { type NumberWorld, RENTAL_RAW, startNumberWorld } from '../../support/number-world.ts';
import { rowsReadBy } from '../../support/rows-read.ts';

const DAY_MS = 86_400_000;

let world: NumberWorld;
beforeAll(async () => {
  // The charges of a purchase bear the time of the database.
  world = await startNumberWorld(Date.now());
});
afterAll(() => world[Symbol.asyncDispose]());

async function renting() {
  const agent = await world.agent(10n * RENTAL_RAW);
  const { number } = await world.buy(agent);
  return { ...agent, numberId: number.id, phoneNumber: number.number };
}

/** A charge of an agent so many days ago. */
const charge = (agentId: number, targetUrl: string, costRaw: number, daysAgo: number) =>
  world.sql`
    insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw,
      usage, created_at)
    values (${agentId}, 'p', ${targetUrl}, 'phone', 'POST', 'success', ${costRaw}, '{}',
      now() - ${daysAgo} * interval '1 day')`;

const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** As if it had been rented for so long. */
const age = (numberId: number, days: number) =>
  world.sql`update phone_numbers set created_at = now() - ${days} * interval '1 day'
    where id = ${numberId}`;

describe('the usage of a number', () => {
  it("the usage of a number has its rental and its calls' charges by day, and no other purchases of its agent", async () => {
    const own = await renting();
    const { agentId, numberId, phoneNumber } = own;
    await age(numberId, 100);
    await charge(agentId, `phone://${phoneNumber}/call/CA1`, 100, 0);
    await charge(agentId, `phone://${phoneNumber}/call/CA1/stt`, 20, 0);
    await charge(agentId, `phone://${phoneNumber}/call/CA2`, 7, 29);
    await charge(agentId, `phone://${phoneNumber}/call/CA3`, 900, 31);
    await charge(agentId, `phone://${phoneNumber}0/call/CA4`, 5, 0);
    await charge(agentId, 'gateway://local/guide', 5, 0);
    expect(await world.numbers.usage(own, undefined)).toEqual({
      number: { id: numberId, phoneNumber },
      days: 30,
      totalRaw: (RENTAL_RAW + 127n).toString(),
      daily: [
        { day: dayAgo(29), totalRaw: '7', requests: 1 },
        { day: dayAgo(0), totalRaw: (RENTAL_RAW + 120n).toString(), requests: 3 },
      ],
      truncated: false,
    });
    expect(await world.numbers.usage(own, '1')).toMatchObject({
      days: 1,
      daily: [{ day: dayAgo(0) }],
    });
    expect(await world.numbers.usage(own, '365')).toMatchObject({
      totalRaw: (RENTAL_RAW + 1_027n).toString(),
    });
  });

  it('the usage of a number is empty when nothing was charged, and ends with the rental', async () => {
    const own = await renting();
    const { agentId, numberId, phoneNumber } = own;
    await age(numberId, 40);
    await charge(agentId, `phone://${phoneNumber}/rental`, 11, 20);
    await world.sql`update phone_numbers set status = 'released',
      released_at = now() - interval '10 days', due_at = null where id = ${numberId}`;
    expect(await world.numbers.usage(own, '5')).toMatchObject({ totalRaw: '0', daily: [] });
    expect(await world.numbers.usage(own, '30')).toMatchObject({ totalRaw: '11' });
  });

  it.each(['0', '366', '1.5', '-1', 'all', '1e2'])(
    'the usage of a number over %s days is refused',
    async (days) => {
      const own = await renting();
      await expect(world.numbers.usage(own, days)).rejects.toMatchObject({
        status: 400,
        error: 'invalid_days',
      });
    },
  );

  it('the usage of a number reads only the charges of its period, and tells whether it was truncated', async () => {
    const { agentId, phoneNumber } = await renting();
    await world.sql`
      insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw,
        usage, created_at)
      select ${agentId}, 'p', 'gateway://local/guide', 'local', 'POST', 'success', 1, '{}',
        now() - n * interval '1 hour'
      from generate_series(1, 5000) n`;
    await world.sql`analyze charges`;
    const since = new Date(Date.now() - 2 * DAY_MS);
    const query = {
      agentId,
      target: `phone://${phoneNumber}/`,
      since,
      until: new Date(Date.now() + DAY_MS),
    };
    const read = await rowsReadBy(world.sql, ['charges'], (tx) => findUsage(tx, query));
    expect(read).toBeLessThan(60);
    const cut = await findUsage(world.sql, query, 10);
    expect([cut.isTruncated, (await findUsage(world.sql, query)).isTruncated]).toEqual([
      true,
      false,
    ]);
  });
});

describe('the fleet of an account', () => {
  it('the fleet of an account has its rented numbers, their calls of a week and their spend of the month', async () => {
    const agents = await world.agents(3, 10n * RENTAL_RAW);
    const [one, two, three] = agents;
    if (!one || !two || !three) throw new Error('three agents were made');
    const bought = await Promise.all(agents.map((agent) => world.buy(agent)));
    const [first, second, third] = bought.map(({ number }) => number);
    await world.numbers.release({ ...three, numberId: third?.id ?? 0 });
    const call = (id: string, numberId: number, daysAgo: number) => world.sql`
      insert into calls (id, agent_id, account_id, number_id, carrier, direction, from_number,
        to_number, status, task_id, max_spend_raw, rates, options, created_at)
      values (${id}, ${one.agentId}, ${one.accountId}, ${numberId}, 'loopback', 'outbound', '+1',
        '+2', 'completed', 't', 1, '{}', '{}', now() - ${daysAgo} * interval '1 day')`;
    await call('CA1', first?.id ?? 0, 1);
    await call('CA2', first?.id ?? 0, 6);
    await call('CA3', first?.id ?? 0, 8);
    const fleet = await world.numbers.fleet(one.accountId);
    expect(fleet.sort((a, b) => a.agentId - b.agentId)).toEqual([
      {
        number: first?.number,
        agentId: one.agentId,
        agentName: 'agent 0',
        status: 'active',
        calls7d: 2,
        spendMtdRaw: RENTAL_RAW.toString(),
      },
      expect.objectContaining({ number: second?.number, agentId: two.agentId, calls7d: 0 }),
    ]);
    expect(await world.numbers.calls({ ...one, numberId: first?.id ?? 0 })).toEqual(
      ['CA1', 'CA2', 'CA3'].map((id) => ({
        id,
        direction: 'outbound',
        from: '+1',
        to: '+2',
        status: 'completed',
        durationSeconds: 0,
        startedAt: null,
        endedAt: null,
      })),
    );
  });
});
