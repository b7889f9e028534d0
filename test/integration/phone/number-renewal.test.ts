import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import { closeAgent } from '../../../src/payments/payouts/close-agent.ts';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
import { releaseAtClose } from '../../../src/phone/numbers/wind-down.ts';
import { accountsWorld } from '../../support/accounts.ts';
import {
  type NumberWorld,
  RENTAL_RAW,
  type RentingAgent,
  startNumberWorld,
} from '../../support/number-world.ts';
import { addPolicy } from '../../support/policies.ts';
import { processOn } from '../../support/reaping-process.ts';

let world: NumberWorld;
beforeEach(async () => {
  world = await startNumberWorld(Date.UTC(2026, 0, 31, 12));
});
afterEach(async () => {
  expect(await world.faults()).toEqual([]);
  await world[Symbol.asyncDispose]();
});

const DAY_MS = 86_400_000;
const { renewEveryMs, unfinishedMs } = PHONE_LIMITS.number;

/** Goes to an instant of the test's time, and lets the worker look. */
async function at(iso: string): Promise<void> {
  world.clock.advance(Date.parse(iso) - world.clock.now());
  await world.tick();
}

/** An agent with a number, and this much beside its first month. */
async function renting(restRaw: bigint): Promise<RentingAgent> {
  const agent = await world.agent(RENTAL_RAW + restRaw);
  await world.buy(agent);
  return agent;
}

const nextRenewal = async (agent: RentingAgent) =>
  (await world.row(agent))?.next_renewal_at?.toISOString();

/** Sets the status as its routes do, so that every ledger hears of it. */
async function setStatus({ agentId }: RentingAgent, status: string): Promise<void> {
  await world.sql`update agent_funds set version = version + 1, rules_version = rules_version + 1
    where agent_id = ${agentId}`;
  await world.sql`update agents set status = ${status} where id = ${agentId}`;
}

/** What the close of an agent needs of the server that this world has not. */
function closing(agent: RentingAgent) {
  const { agentsDeps } = accountsWorld(world.sql, { ledger: world.main.ledger });
  const windDown = (tx: Parameters<typeof releaseAtClose>[0], id: number) =>
    releaseAtClose(tx, id, new Date(world.clock.now()));
  const { agentId: id, accountId } = agent;
  return closeAgent({ ...agentsDeps, windDown }, { id, accountId, walletAddress: null } as never);
}

describe('a rental', () => {
  it('a number rental is charged each month on the day of its purchase, and on the last day of shorter months', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    expect(await nextRenewal(agent)).toBe('2026-02-28T12:00:00.000Z');
    await at('2026-02-28T11:59:59.999Z');
    expect(await world.charges(agent)).toHaveLength(1);
    await at('2026-02-28T12:00:00.000Z');
    expect(await world.charges(agent)).toHaveLength(2);
    expect(await nextRenewal(agent)).toBe('2026-03-31T12:00:00.000Z');
    await at('2026-03-31T12:00:10.000Z');
    expect(await nextRenewal(agent)).toBe('2026-04-30T12:00:00.000Z');
    expect(await world.row(agent)).toMatchObject({ status: 'active', paid_months: 3 });
    expect(await world.charges(agent)).toEqual(
      Array.from({ length: 3 }, () => ({
        target_url: 'phone://+12125550100/rental',
        cost_raw: RENTAL_RAW,
      })),
    );
  });

  it('a number rental is charged once a month by any number of processes', async () => {
    const agents = await world.agents(30, 3n * RENTAL_RAW);
    for (const agent of agents) await world.buy(agent);
    const other = await processOn(world.sql, 'other', 60_000);
    const { tick } = world.processWith(other.ledger);
    world.clock.advance(40 * DAY_MS);
    await Promise.all([world.tick(), tick(), world.tick(), tick()]);
    const [charged] = await world.sql<{ charges: number; most: number }[]>`
      select sum(n)::int as charges, max(n)::int as most
      from (select count(*) as n from charges group by agent_id) as by_agent`;
    expect(charged).toEqual({ charges: 60, most: 2 });
    expect(await world.sql`select 1 from phone_numbers where paid_months <> 2`).toHaveLength(0);
  });

  it('a number rental catches up on months that went by while no server ran', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    await at('2026-05-01T00:00:00.000Z');
    for (let i = 0; i < 4; i++) await at(new Date(world.clock.now() + renewEveryMs).toISOString());
    expect(await world.row(agent)).toMatchObject({ status: 'active', paid_months: 4 });
    expect(await nextRenewal(agent)).toBe('2026-05-31T12:00:00.000Z');
    expect(await world.charges(agent)).toHaveLength(4);
  });

  it('a number rental keeps the price of its purchase', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    await world.sql`update phone_numbers set monthly_rental_raw = 1500000`;
    await at('2026-02-28T12:00:00.000Z');
    expect(await world.charges(agent)).toMatchObject([{}, { cost_raw: 1_500_000n }]);
  });

  it('a number rental is charged once when its process dies between the ledger and its row', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    const { ledger } = world.main;
    const dying = world.processWith({
      hold: ledger.hold,
      settle: async (request: Parameters<Ledger['settle']>[0]) => {
        await ledger.settle(request);
        throw new Error('killed');
      },
    });
    world.clock.advance(28 * DAY_MS);
    await dying.tick();
    expect(await world.row(agent)).toMatchObject({ paid_months: 1 });
    world.clock.advance(unfinishedMs);
    await world.tick();
    expect(await world.row(agent)).toMatchObject({ status: 'active', paid_months: 2 });
    expect(await world.charges(agent)).toHaveLength(2);
  });

  it('a number rental is charged once when its process dies with the month held, and that hold is released', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    const dead = await processOn(world.sql, 'dead', 60_000);
    const settle = () => Promise.reject(new Error('killed'));
    world.clock.advance(28 * DAY_MS);
    await world.processWith({ hold: dead.ledger.hold, settle }).tick();
    expect(await world.funds(agent)).toMatchObject({ heldRaw: RENTAL_RAW });
    await world.sql`update leases set expires_at = now() - interval '1 second'
      where node_id = 'dead'`;
    expect(await world.main.atOnce.tick()).toMatchObject({ holds: 1 });
    world.clock.advance(unfinishedMs);
    await world.tick();
    expect(await world.row(agent)).toMatchObject({ status: 'active', paid_months: 2 });
    expect(await world.charges(agent)).toHaveLength(2);
    expect(await world.funds(agent)).toEqual({ spendableRaw: 9n * RENTAL_RAW, heldRaw: 0n });
  });
});

describe('a rental that cannot be paid', () => {
  it('a number rental that cannot be paid puts the number in grace for a week, and reports it once', async () => {
    const agent = await renting(RENTAL_RAW - 1n);
    await at('2026-02-28T12:00:00.000Z');
    await at('2026-03-01T12:00:00.000Z');
    expect(await world.row(agent)).toMatchObject({
      status: 'grace',
      grace_until: new Date('2026-03-07T12:00:00.000Z'),
    });
    expect(await world.events(agent)).toEqual([
      {
        name: 'phone.number.grace',
        payload: {
          agentWalletAddress: `0xagent${agent.agentId}`,
          numberId: expect.any(Number),
          phoneNumber: '+12125550100',
          graceUntil: '2026-03-07T12:00:00.000Z',
          monthlyRentalRaw: '2000000',
        },
      },
    ]);
    expect(await world.charges(agent)).toHaveLength(1);
  });

  it('a number rental in grace is paid within one tick of a rise of the balance, and keeps its day of the month', async () => {
    const agent = await renting(0n);
    await at('2026-02-28T12:00:00.000Z');
    await at('2026-03-02T09:00:00.000Z');
    await world.credit(agent.agentId, RENTAL_RAW);
    await at('2026-03-02T09:00:30.000Z');
    expect(await world.row(agent)).toMatchObject({
      status: 'active',
      grace_until: null,
      next_renewal_at: new Date('2026-03-31T12:00:00.000Z'),
      paid_months: 2,
    });
    expect(await world.charges(agent)).toHaveLength(2);
  });

  it('a number rental in grace is released after the week, and returned however often the carrier fails', async () => {
    const agent = await renting(0n);
    world.carrier.keeps = 'away';
    await at('2026-02-28T12:00:00.000Z');
    await at('2026-03-07T11:59:59.000Z');
    expect(await world.row(agent)).toMatchObject({ status: 'grace' });
    await at('2026-03-07T12:00:00.000Z');
    expect(await world.row(agent)).toMatchObject({
      status: 'released',
      release_reason: 'non_payment',
      returned_at: null,
      next_renewal_at: null,
      grace_until: null,
    });
    expect((await world.events(agent)).map(({ name }) => name)).toEqual([
      'phone.number.grace',
      'phone.number.released',
    ]);
    await at('2026-03-07T12:05:00.000Z');
    world.carrier.keeps = undefined;
    await at('2026-03-07T12:10:00.000Z');
    await at('2026-03-07T12:20:00.000Z');
    expect(world.carrier.returned).toEqual(['PN+12125550100']);
    expect(await world.row(agent)).toMatchObject({ returned_at: expect.any(Date), due_at: null });
    await world.credit(agent.agentId, 10n * RENTAL_RAW);
    await at('2026-06-01T00:00:00.000Z');
    expect(await world.charges(agent)).toHaveLength(1);
  });

  it('a number rental that a cap refuses is paid once the cap has headroom, and never trips a kill switch', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    const { agentId, accountId } = agent;
    const id = await addPolicy(world.sql, {
      accountId,
      agentId,
      kind: 'api',
      matchKey: 'phone',
      limitRaw: RENTAL_RAW + 1n,
      windowSeconds: 365 * 86_400,
      action: 'suspend_agent',
    });
    await at('2026-02-28T12:00:00.000Z');
    expect(await world.row(agent)).toMatchObject({ status: 'grace' });
    expect(await world.sql`select status from agents where id = ${agentId}`).toEqual([
      { status: 'active' },
    ]);
    await world.sql`update agent_funds set version = version + 1, rules_version = rules_version + 1
      where agent_id = ${agentId}`;
    await world.sql`update policies set limit_raw = 100000000 where id = ${id}`;
    await at('2026-02-28T12:00:30.000Z');
    expect(await world.row(agent)).toMatchObject({ status: 'active', paid_months: 2 });
  });
});

describe('a number', () => {
  it('the number of a suspended agent is kept, and its months are paid once the agent is resumed', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    await setStatus(agent, 'suspended');
    await at('2026-02-28T12:00:00.000Z');
    await at('2026-03-20T12:00:00.000Z');
    expect(await world.row(agent)).toMatchObject({ status: 'active', paid_months: 1 });
    expect(await world.events(agent)).toEqual([]);
    await setStatus(agent, 'active');
    await at('2026-03-20T12:00:30.000Z');
    expect(await world.row(agent)).toMatchObject({ status: 'active', paid_months: 2 });
  });

  it('a released number is charged no more, is reported once, and can be released again', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    const [row] = await world.rows(agent);
    const ref = { ...agent, numberId: row?.id ?? 0 };
    world.clock.advance(DAY_MS);
    const releases = await Promise.all(Array.from({ length: 8 }, () => world.numbers.release(ref)));
    const [first] = releases;
    expect(first).toMatchObject({
      status: 'released',
      releasedAt: '2026-02-01T12:00:00.000Z',
      releaseReason: 'developer_release',
      nextRenewalAt: null,
    });
    expect(releases).toEqual(releases.map(() => first));
    await at('2026-04-01T00:00:00.000Z');
    expect(await world.numbers.release(ref)).toEqual(first);
    expect(world.carrier.returned).toEqual(['PN+12125550100']);
    expect(await world.charges(agent)).toHaveLength(1);
    expect(await world.events(agent)).toMatchObject([
      { name: 'phone.number.released', payload: { releaseReason: 'developer_release' } },
    ]);
    expect(await world.buy(agent)).toMatchObject({ number: { status: 'active' } });
  });

  it('a number whose return got no answer from the carrier stays with the agent that rents it next', async () => {
    const [first, next] = [await renting(RENTAL_RAW), await world.agent(10n * RENTAL_RAW)];
    const [row] = await world.rows(first);
    world.carrier.keeps = 'lost';
    await world.numbers.release({ ...first, numberId: row?.id ?? 0 });
    world.carrier.keeps = undefined;
    expect(await world.row(first)).toMatchObject({ returned_at: null });
    await world.buy(next, { phoneNumber: '+12125550100' });
    world.clock.advance(PHONE_LIMITS.number.unfinishedMs);
    await world.tick();
    expect(world.carrier.returned).toEqual(['PN+12125550100']);
    expect(world.carrier.sold.size).toBe(1);
    expect(await world.row(first)).toMatchObject({ returned_at: expect.any(Date), due_at: null });
    expect(await world.row(next)).toMatchObject({ status: 'active' });
  });

  it('a released number that another agent tries to buy is returned once that purchase has failed', async () => {
    const [first, next] = [await renting(RENTAL_RAW), await world.agent(10n * RENTAL_RAW)];
    const [row] = await world.rows(first);
    world.carrier.keeps = 'away';
    await world.numbers.release({ ...first, numberId: row?.id ?? 0 });
    world.carrier.keeps = undefined;
    await world.sql`
      insert into phone_numbers (agent_id, account_id, carrier, phone_number, status,
        monthly_rental_raw, purchase_id, due_at)
      values (${next.agentId}, ${next.accountId}, 'loopback', '+12125550100', 'buying', 2000000,
        'num_trying', null)`;
    world.clock.advance(PHONE_LIMITS.number.unfinishedMs);
    await world.tick();
    expect(world.carrier.returned).toEqual([]);
    await world.sql`update phone_numbers set status = 'failed' where purchase_id = 'num_trying'`;
    world.clock.advance(PHONE_LIMITS.number.unfinishedMs);
    await world.tick();
    expect(world.carrier.returned).toEqual(['PN+12125550100']);
    expect(await world.row(first)).toMatchObject({ returned_at: expect.any(Date), due_at: null });
  });

  it('a number that is released while its month is held releases that hold', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    const [row] = await world.rows(agent);
    const { ledger } = world.main;
    const releasing = world.processWith({
      settle: ledger.settle,
      hold: async (request: Parameters<Ledger['hold']>[0]) => {
        const verdict = await ledger.hold(request);
        await world.numbers.release({ ...agent, numberId: row?.id ?? 0 });
        return verdict;
      },
    });
    world.clock.advance(28 * DAY_MS);
    await releasing.tick();
    expect(await world.row(agent)).toMatchObject({ status: 'released', paid_months: 1 });
    expect(await world.charges(agent)).toHaveLength(1);
    expect(await world.funds(agent)).toEqual({ spendableRaw: 10n * RENTAL_RAW, heldRaw: 0n });
  });

  it('the number of a closed agent is released in the same commit, before the balance is paid out', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    await closing(agent);
    expect(await world.row(agent)).toMatchObject({
      status: 'released',
      release_reason: 'agent_winddown',
    });
    expect(await world.funds(agent)).toEqual({ spendableRaw: 0n, heldRaw: 0n });
    await closing(agent);
    await at('2026-04-01T00:00:00.000Z');
    expect(world.carrier.returned).toEqual(['PN+12125550100']);
    expect(await world.charges(agent)).toHaveLength(1);
    expect(await world.events(agent)).toMatchObject([
      { name: 'phone.number.released', payload: { releaseReason: 'agent_winddown' } },
    ]);
  });

  it('concurrent closing and renewal of a number leaves nothing held and does not deadlock', async () => {
    const agents = await world.agents(12, 5n * RENTAL_RAW);
    for (const agent of agents) await world.buy(agent);
    world.clock.advance(28 * DAY_MS);
    await Promise.all([world.tick(), ...agents.map(closing), world.tick()]);
    for (const agent of agents) {
      expect(await world.row(agent)).toMatchObject({ status: 'released' });
      expect(await world.funds(agent)).toMatchObject({ heldRaw: 0n });
    }
  });

  it('the number of a carrier that is no longer configured is left alone', async () => {
    const agent = await renting(10n * RENTAL_RAW);
    await world.sql`update phone_numbers set carrier = 'telnyx'`;
    await at('2026-04-01T00:00:00.000Z');
    expect(await world.row(agent)).toMatchObject({ status: 'active', paid_months: 1 });
    expect(await world.charges(agent)).toHaveLength(1);
  });
});
