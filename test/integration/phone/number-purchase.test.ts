import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import { closeAgent } from '../../../src/payments/payouts/close-agent.ts';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
import { releaseAtClose } from '../../../src/phone/numbers/wind-down.ts';
import { accountsWorld } from '../../support/accounts.ts';
import { type NumberWorld, RENTAL_RAW, startNumberWorld } from '../../support/number-world.ts';
import { addPolicy } from '../../support/policies.ts';
import { processOn } from '../../support/reaping-process.ts';
import { RecordedSpan } from '../../support/recorded-span.ts';

let world: NumberWorld;
beforeEach(async () => {
  world = await startNumberWorld();
});
afterEach(async () => {
  expect(await world.faults()).toEqual([]);
  await world[Symbol.asyncDispose]();
});

const RENTAL = { cost_raw: RENTAL_RAW };
const { unfinishedMs, lateSaleMs } = PHONE_LIMITS.number;

/** What came of a call: `ok`, or the wire spelling of its refusal. */
const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'ok',
    (error: { error?: string; message: string }) => error.error ?? error.message,
  );

const count = (outcomes: readonly string[], wanted: string) =>
  outcomes.filter((each) => each === wanted).length;

describe('a purchase', () => {
  it('a number purchase makes the number active, and charges its first month under its own target', async () => {
    const agent = await world.agent(5_000_000n);
    const { number, chargedRaw } = await world.buy(agent);
    expect(chargedRaw).toBe(RENTAL_RAW);
    expect(number).toEqual({
      id: expect.any(Number),
      numberId: number.id,
      phoneNumber: '+12125550100',
      number: '+12125550100',
      status: 'active',
      areaCode: '212',
      monthlyRentalRaw: '2000000',
      nextRenewalAt: '2026-02-28T12:00:00.000Z',
      graceUntil: null,
      releasedAt: null,
      releaseReason: null,
      createdAt: '2026-01-31T12:00:00.000Z',
    });
    expect(await world.charges(agent)).toEqual([
      { ...RENTAL, target_url: 'phone://+12125550100/rental' },
    ]);
    expect(await world.funds(agent)).toEqual({ spendableRaw: 3_000_000n, heldRaw: 0n });
  });

  it('a number purchase is traced below its request, with its cost or the reason of its refusal', async () => {
    const agent = await world.agent(5_000_000n);
    const request = new RecordedSpan('request');
    await world.buy(agent, { areaCode: '212' }, request);
    expect(await outcome(world.buy(agent, { areaCode: '212' }, request))).not.toBe('ok');
    const [bought, refused] = request.children;
    expect(bought).toMatchObject({
      name: `number ${world.carrier.name}`,
      start: { kind: 'client' },
      ended: {},
      attributes: {
        'svc.agent.id': agent.agentId,
        'svc.hold.id': expect.stringMatching(/^num_/),
        'svc.cost_raw': Number(RENTAL_RAW),
      },
    });
    expect(bought?.ended?.error).toBeUndefined();
    expect(refused?.ended?.error).toEqual(expect.any(String));
    // No span says which number it is about.
    expect(JSON.stringify(request.children)).not.toContain('12125550100');
  });

  it('twenty concurrent purchases of one agent buy one number and one month', async () => {
    const agent = await world.agent(100_000_000n);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcome(world.buy(agent))));
    expect([count(outcomes, 'ok'), count(outcomes, 'number_exists')]).toEqual([1, 19]);
    expect([world.carrier.buys, world.carrier.sold.size]).toEqual([1, 1]);
    expect(await world.charges(agent)).toHaveLength(1);
    expect(await world.rows(agent)).toMatchObject([{ status: 'active' }]);
  });

  it('concurrent purchases give each agent in one area a number of its own, and one exact number to one agent', async () => {
    const agents = await world.agents(12, 5_000_000n);
    const bought = await Promise.all(agents.map((agent) => world.buy(agent)));
    expect(new Set(bought.map(({ number }) => number.number)).size).toBe(12);
    const others = await world.agents(6, 5_000_000n);
    const exact = { phoneNumber: '+14155550142', areaCode: 'ignored' };
    const outcomes = await Promise.all(others.map((agent) => outcome(world.buy(agent, exact))));
    expect([count(outcomes, 'ok'), count(outcomes, 'no_numbers_available')]).toEqual([1, 5]);
  });

  it('a number purchase makes no carrier request and leaves no trace when the first month is not covered', async () => {
    const agent = await world.agent(RENTAL_RAW - 1n);
    await expect(world.buy(agent)).rejects.toMatchObject({
      status: 402,
      error: 'insufficient_balance',
      fields: { available: '1999999', required: '2000000' },
    });
    expect([world.carrier.buys, await world.rows(agent)]).toEqual([0, []]);
    await world.credit(agent.agentId, 1n);
    expect(await outcome(world.buy(agent))).toBe('ok');
  });

  it.each([
    ['refused', 502, 'provisioning_failed'],
    ['taken', 409, 'no_numbers_available'],
  ] as const)(
    'a number purchase that the carrier reports as %s costs nothing and leaves the agent free to buy',
    async (...row) => {
      const [deal, status, error] = row;
      const agent = await world.agent(5_000_000n);
      world.carrier.deal = deal;
      await expect(world.buy(agent)).rejects.toMatchObject({ status, error });
      expect(await world.funds(agent)).toEqual({ spendableRaw: 5_000_000n, heldRaw: 0n });
      expect(await world.row(agent)).toMatchObject({ status: 'failed', due_at: null });
      world.carrier.deal = 'sold';
      expect(await outcome(world.buy(agent))).toBe('ok');
      expect(await world.charges(agent)).toHaveLength(1);
    },
  );
});

describe('a purchase of a number that another customer has bought since it was offered', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => `+1212555010${i}`);
  const holding = async (agent: { agentId: number; accountId: string }) =>
    (await world.rows(agent)).map((row) => [row.phone_number, row.status, row.due_at === null]);

  it('a number purchase goes on with the next number of the area when one is taken, and holds and charges one month', async () => {
    const agent = await world.agent(RENTAL_RAW);
    for (const number of numbers(2)) world.carrier.gone.add(number);
    const { number } = await world.buy(agent);
    expect(number.number).toBe('+12125550102');
    expect(await holding(agent)).toEqual([
      ['+12125550100', 'failed', true],
      ['+12125550101', 'failed', true],
      ['+12125550102', 'active', false],
    ]);
    expect(await world.charges(agent)).toHaveLength(1);
    expect(await world.funds(agent)).toEqual({ spendableRaw: 0n, heldRaw: 0n });
  });

  it('a number purchase ends after a few taken numbers, and when the area has no other', async () => {
    const agent = await world.agent(RENTAL_RAW);
    for (const number of numbers(10)) world.carrier.gone.add(number);
    expect(await outcome(world.buy(agent))).toBe('no_numbers_available');
    expect(world.carrier.buys).toBe(PHONE_LIMITS.number.purchaseTries);
    world.carrier.buys = 0;
    world.carrier.offered = () => numbers(2);
    expect(await outcome(world.buy(agent))).toBe('no_numbers_available');
    expect(world.carrier.buys).toBe(2);
    expect(await world.funds(agent)).toEqual({ spendableRaw: RENTAL_RAW, heldRaw: 0n });
  });

  it('a number purchase of one exact number ends at once when another customer has bought it', async () => {
    const agent = await world.agent(RENTAL_RAW);
    world.carrier.gone.add('+12125550100');
    const exact = { phoneNumber: '+12125550100' };
    expect(await outcome(world.buy(agent, exact))).toBe('no_numbers_available');
    expect(world.carrier.buys).toBe(1);
  });
});

describe('a purchase whose answer is lost', () => {
  it('a number purchase whose response is lost is found at once when the carrier responds again', async () => {
    const agent = await world.agent(5_000_000n);
    world.carrier.deal = 'lost';
    expect(await outcome(world.buy(agent))).toBe('ok');
    expect(await world.charges(agent)).toHaveLength(1);
  });

  it('a number purchase whose response is lost keeps its hold until the carrier confirms the sale, and is charged once', async () => {
    const agent = await world.agent(5_000_000n);
    Object.assign(world.carrier, { deal: 'lost', isMute: true });
    await expect(world.buy(agent)).rejects.toMatchObject({ error: 'provisioning_failed' });
    world.clock.advance(unfinishedMs);
    await world.tick();
    expect(await world.funds(agent)).toMatchObject({ heldRaw: RENTAL_RAW });
    // The number of a purchase that is not decided may never be the agent's.
    await expect(world.buy(agent)).rejects.toMatchObject({
      error: 'number_exists',
      fields: { number: null },
      headers: { 'x-should-retry': 'true', 'retry-after': '5' },
    });
    world.carrier.isMute = false;
    world.clock.advance(unfinishedMs);
    await Promise.all([world.tick(), world.tick(), world.tick()]);
    expect(await world.row(agent)).toMatchObject({ status: 'active', paid_months: 1 });
    expect(await world.charges(agent)).toHaveLength(1);
    expect([world.carrier.buys, world.carrier.sold.size]).toEqual([1, 1]);
  });

  it('a number purchase whose response is lost costs nothing when the carrier has sold nothing', async () => {
    const agent = await world.agent(5_000_000n);
    world.carrier.deal = 'away';
    await expect(world.buy(agent)).rejects.toMatchObject({ error: 'provisioning_failed' });
    await world.tick();
    expect(await world.row(agent)).toMatchObject({ status: 'buying' });
    world.clock.advance(unfinishedMs);
    await world.tick();
    expect(await world.row(agent)).toMatchObject({ status: 'failed' });
    expect(await world.funds(agent)).toEqual({ spendableRaw: 5_000_000n, heldRaw: 0n });
    world.clock.advance(lateSaleMs);
    await world.tick();
    expect(await world.row(agent)).toMatchObject({ status: 'failed', due_at: null });
  });

  it('a number purchase whose response is lost returns a number that was sold after the purchase was given up', async () => {
    const agent = await world.agent(5_000_000n);
    world.carrier.deal = 'away';
    await expect(world.buy(agent)).rejects.toMatchObject({ error: 'provisioning_failed' });
    world.clock.advance(unfinishedMs);
    await world.tick();
    const [row] = await world.sql<{ purchase_id: string }[]>`select purchase_id from phone_numbers`;
    const late = { carrierNumberId: 'PNlate', phoneNumber: '+12125550100' };
    world.carrier.sold.set(row?.purchase_id ?? '', late);
    world.clock.advance(lateSaleMs);
    await world.tick();
    expect(world.carrier.returned).toEqual(['PNlate']);
    expect(await world.row(agent)).toMatchObject({
      status: 'failed',
      carrier_number_id: 'PNlate',
      returned_at: expect.any(Date),
      due_at: null,
    });
    expect(await world.charges(agent)).toEqual([]);
  });
});

describe('a purchase whose process dies', () => {
  const never = new Promise<never>(() => {});
  /** Begins a purchase in a process that goes no further than its ledger lets it. */
  const buyIn = (ledger: Pick<Ledger, 'hold' | 'settle'>, agentId: number, accountId: string) =>
    world.processWith(ledger).numbers.buy({ accountId, spender: { agentId } }, { areaCode: '212' });

  it('a number purchase whose process dies between carrier and ledger is charged once, and keeps its hold until then', async () => {
    const { agentId, accountId } = await world.agent(5_000_000n);
    const dead = await processOn(world.sql, 'dead', 60_000);
    let isSettling = false;
    const stuck = {
      hold: dead.ledger.hold,
      settle: () => {
        isSettling = true;
        return never;
      },
    };
    void outcome(buyIn(stuck, agentId, accountId));
    await expect.poll(() => isSettling).toBe(true);
    await world.sql`update leases set expires_at = now() - interval '1 second'
      where node_id = 'dead'`;
    expect(await world.main.atOnce.tick()).toMatchObject({ holds: 0 });
    expect(await world.funds({ agentId })).toMatchObject({ heldRaw: RENTAL_RAW });
    world.clock.advance(unfinishedMs);
    await Promise.all([world.tick(), world.tick()]);
    expect(await world.row({ agentId, accountId })).toMatchObject({ status: 'active' });
    expect(await world.charges({ agentId, accountId })).toHaveLength(1);
    expect(world.carrier.buys).toBe(1);
  });

  it('an unfinished number purchase is charged later under the same caps and with the same tags', async () => {
    const { agentId, accountId } = await world.agent(10_000_000n);
    const [key] = await world.sql<{ id: number }[]>`
      select id from agent_keys where agent_id = ${agentId}`;
    const keyId = key?.id ?? 0;
    const tags = { keyId, taskId: 'plan', actionId: 'rent', customerId: 'client' };
    const spender = { agentId, keyRootId: keyId, ...tags };
    await addPolicy(world.sql, {
      accountId,
      agentId,
      kind: 'task',
      matchKey: 'plan',
      limitRaw: RENTAL_RAW,
    });
    Object.assign(world.carrier, { deal: 'lost', isMute: true });
    const { numbers } = world;
    expect(await outcome(numbers.buy({ accountId, spender }, { areaCode: '212' }))).toBe(
      'provisioning_failed',
    );
    world.carrier.isMute = false;
    world.clock.advance(unfinishedMs);
    await world.tick();
    const charged = await world.sql`
      select key_id as "keyId", task_id as "taskId", action_id as "actionId",
        customer_id as "customerId", cost_raw from charges`;
    expect(charged).toEqual([{ ...tags, ...RENTAL }]);
    const [row] = await world.rows({ agentId, accountId });
    await numbers.release({ agentId, accountId, numberId: row?.id ?? 0 });
    expect(await outcome(numbers.buy({ accountId, spender }, { areaCode: '212' }))).toBe(
      'policy_exceeded',
    );
  });

  it('a number purchase whose process dies before the carrier sells costs nothing, and its hold is released', async () => {
    const { agentId, accountId } = await world.agent(5_000_000n);
    const dead = await processOn(world.sql, 'dead', 60_000);
    world.carrier.gate = never;
    void outcome(buyIn(dead.ledger, agentId, accountId));
    await expect.poll(() => world.carrier.buys).toBe(1);
    await world.sql`update leases set expires_at = now() - interval '1 second'
      where node_id = 'dead'`;
    expect(await world.main.atOnce.tick()).toMatchObject({ holds: 0 });
    world.clock.advance(unfinishedMs);
    await world.tick();
    expect(await world.row({ agentId, accountId })).toMatchObject({ status: 'failed' });
    expect(await world.funds({ agentId })).toEqual({
      spendableRaw: 5_000_000n,
      heldRaw: 0n,
    });
  });

  it('a number purchase whose process dies between the ledger and its row is charged once', async () => {
    const { agentId, accountId } = await world.agent(5_000_000n);
    const { ledger } = world.main;
    const dying = {
      hold: ledger.hold,
      settle: async (request: Parameters<Ledger['settle']>[0]) => {
        await ledger.settle(request);
        throw new Error('killed');
      },
    };
    await expect(buyIn(dying, agentId, accountId)).rejects.toThrow('killed');
    expect(await world.row({ agentId, accountId })).toMatchObject({ status: 'buying' });
    world.clock.advance(unfinishedMs);
    await world.tick();
    expect(await world.row({ agentId, accountId })).toMatchObject({
      status: 'active',
      paid_months: 1,
    });
    expect(await world.charges({ agentId, accountId })).toHaveLength(1);
  });
});

describe('a purchase that is slow', () => {
  it('a number purchase that was given up before the carrier answered returns its number, and is not charged', async () => {
    const agent = await world.agent(5_000_000n);
    let open = () => {};
    world.carrier.gate = new Promise((resolve) => {
      open = resolve;
    });
    const buying = outcome(world.buy(agent));
    await expect.poll(() => world.carrier.buys).toBe(1);
    await world.sql`update phone_numbers set due_at = now() - interval '1 year'`;
    await world.tick();
    expect(await world.row(agent)).toMatchObject({ status: 'failed' });
    open();
    expect(await buying).toBe('provisioning_failed');
    expect(world.carrier.returned).toEqual(['PN+12125550100']);
    expect(await world.funds(agent)).toEqual({ spendableRaw: 5_000_000n, heldRaw: 0n });
  });

  it('a number purchase whose agent is closed before the carrier answers ends with the number released', async () => {
    const { sql, carrier, clock } = world;
    const agent = await world.agent(5_000_000n);
    let open = () => {};
    carrier.gate = new Promise((resolve) => {
      open = resolve;
    });
    const buying = outcome(world.buy(agent));
    await expect.poll(() => carrier.buys).toBe(1);
    const { agentsDeps } = accountsWorld(sql, { ledger: world.main.ledger });
    const [closing] = await sql`select * from agents where id = ${agent.agentId}`;
    await closeAgent(
      { ...agentsDeps, windDown: (tx, id) => releaseAtClose(tx, id, new Date(clock.now())) },
      { ...closing, id: agent.agentId, accountId: agent.accountId, walletAddress: null } as never,
    );
    expect(await world.row(agent)).toMatchObject({ status: 'buying' });
    open();
    expect(await buying).toBe('ok');
    expect(await world.row(agent)).toMatchObject({
      status: 'released',
      release_reason: 'agent_winddown',
    });
    await world.tick();
    expect(carrier.returned).toEqual(['PN+12125550100']);
  });
});
