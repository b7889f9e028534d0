import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buyAgentNumber } from '../../src/routes/developer/agents/numbers/buy.ts';
import { searchAgentNumbers } from '../../src/routes/developer/agents/numbers/search.ts';
import { bearer, KEYS } from '../support/edge.ts';
import { startKeyedEdge } from '../support/keyed-edge.ts';
import { startNumberWorld } from '../support/number-world.ts';
import {
  type Ask,
  ask,
  type Developer,
  moneyOf,
  newDeveloper,
  startWorld,
  type Told,
  type WholeWorld,
} from '../support/whole-world.ts';

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const to = (path: string, options: Ask = {}) => ask(world.url + path, options);
let developers = 0;

/** A developer with one agent that has this much, and the routes of its numbers. */
async function renter(amountRaw = 5_000_000n) {
  const developer: Developer = await newDeveloper(world.api, `renter ${++developers}`);
  const { headers } = developer;
  const agentId = await developer.createAgent('caller');
  const credit = (raw: bigint) =>
    to(`/v1/admin/agents/${agentId}/credit`, {
      headers: { 'x-admin-key': world.adminApiKey },
      body: { amountRaw: `${raw}`, reference: `${agentId}-${raw}` },
    });
  if (amountRaw > 0n) await credit(amountRaw);
  const base = `/v1/developer/agents/${agentId}`;
  const call = (method: string, path: string, body?: unknown): Promise<Told> =>
    to(`${base}${path}`, { method, headers, ...(body !== undefined && { body }) });
  const [row] = await world.sql<{ account: string }[]>`
    select account_id as account from agents where id = ${agentId}`;
  return {
    ...developer,
    agentId,
    accountId: row?.account ?? '',
    credit,
    call,
    buy: (body: unknown = { areaCode: '212' }) => call('POST', '/numbers', body),
  };
}

const refusal = ({ status, body }: Told) => [status, body.error];

describe('a rented number', () => {
  it('a rented number is bought, shown in every list, and released for good', async () => {
    const { agentId, buy, call, headers } = await renter();
    const listed = await call('GET', '/numbers');
    expect(listed.body).toEqual({ numbers: [], rentalRaw: '2000000' });
    const made = await buy({ areaCode: '646' });
    expect([made.status, made.headers.get('x-svc-cost-usdc')]).toEqual([201, '2000000']);
    const record = made.body.number as Record<string, unknown>;
    const number = expect.stringMatching(/^\+164655501\d\d$/);
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(record).toEqual({
      id: record.numberId,
      numberId: expect.any(Number),
      phoneNumber: record.number,
      number,
      status: 'active',
      areaCode: '646',
      monthlyRentalRaw: '2000000',
      nextRenewalAt: time,
      createdAt: time,
      graceUntil: null,
      releasedAt: null,
      releaseReason: null,
    });
    expect((await call('GET', '/numbers')).body.numbers).toEqual([record]);
    expect((await call('GET', `/numbers/${record.id}`)).body).toEqual({ number: record });
    expect((await to('/v1/developer/agents/rollup', { headers })).body).toMatchObject({
      agents: [{ id: agentId, phone: record.number }],
    });
    expect((await to('/v1/developer/phone/numbers', { headers })).body).toEqual({
      numbers: [
        {
          number: record.number,
          agentId,
          agentName: 'caller',
          status: 'active',
          calls7d: 0,
          spendMtdRaw: '2000000',
        },
      ],
    });
    expect((await call('GET', `/numbers/${record.id}/usage?days=7`)).body).toMatchObject({
      number: { id: record.id, phoneNumber: record.number },
      totalRaw: '2000000',
      daily: [{ totalRaw: '2000000', requests: 1 }],
    });
    expect((await call('GET', `/numbers/${record.id}/calls`)).body).toEqual({ calls: [] });
    const released = await call('DELETE', `/numbers/${record.id}`);
    expect(released).toMatchObject({
      status: 200,
      body: { number: { id: record.id, status: 'released', releaseReason: 'developer_release' } },
    });
    expect((await call('DELETE', `/numbers/${record.id}`)).body).toEqual(released.body);
    const again = await buy({ areaCode: '646' });
    expect(again.status).toBe(201);
    const { numbers } = (await call('GET', '/numbers')).body as { numbers: { status: string }[] };
    expect(numbers.map(({ status }) => status)).toEqual(['active', 'released']);
    expect(await moneyOf(world.sql, agentId)).toMatchObject({ spendable: 1_000_000n, held: 0n });
  });

  it('a rented number is bought by the agent itself, with its key and its tags on the charge', async () => {
    const { agentId, mintKey } = await renter();
    const { key, keyId } = await mintKey(agentId);
    const made = await to('/v1/numbers', {
      headers: { authorization: `Bearer ${key}`, 'x-svc-task-id': ' Plan ' },
      body: { phoneNumber: '+13125550177' },
    });
    expect([made.status, made.headers.get('x-svc-cost-usdc')]).toEqual([201, '2000000']);
    expect(
      await world.sql`select key_id, task_id, target_url, target_host, method, model from charges
        where agent_id = ${agentId}`,
    ).toEqual([
      {
        key_id: keyId,
        task_id: 'plan',
        target_url: 'phone://+13125550177/rental',
        target_host: 'phone',
        method: 'POST',
        model: null,
      },
    ]);
  });

  it('a rented number is released when its agent is closed', async () => {
    const { agentId, buy, call } = await renter();
    await buy();
    expect((await call('POST', '/close')).body).toMatchObject({ status: 'closed' });
    expect((await call('GET', '/numbers')).body.numbers).toMatchObject([
      { status: 'released', releaseReason: 'agent_winddown' },
    ]);
    expect(await moneyOf(world.sql, agentId)).toMatchObject({ spendable: 0n, held: 0n });
  });

  it('a number is searched for in an area or anywhere, thirty times a minute', async () => {
    const { call } = await renter(0n);
    const found = await call('GET', '/numbers/search?areaCode=907');
    expect(found.status).toBe(200);
    expect((found.body.numbers as unknown[]).length).toBe(20);
    expect((found.body.numbers as unknown[])[0]).toEqual({
      phoneNumber: '+19075550100',
      friendlyName: '(907) 555-0100',
      locality: null,
      region: null,
    });
    expect(((await call('GET', '/numbers/search')).body.numbers as unknown[]).length).toBe(20);
    expect(refusal(await call('GET', '/numbers/search?areaCode=12'))).toEqual([
      400,
      'invalid_area_code',
    ]);
    const rest = await Promise.all(
      Array.from({ length: 30 }, () => call('GET', '/numbers/search?areaCode=907')),
    );
    expect(rest.filter(({ status }) => status === 429)).toHaveLength(3);
  });
});

describe('a purchase is refused', () => {
  it.each<[unknown, string]>([
    [{}, 'area_code_required'],
    [undefined, 'area_code_required'],
    [{ areaCode: '012' }, 'invalid_area_code'],
    [{ phoneNumber: '5550100' }, 'invalid_phone_number'],
  ])('a number purchase is refused with 400 when its body is %j', async (body, error) => {
    const { agentId, buy } = await renter();
    expect(refusal(await buy(body ?? ''))).toEqual([400, error]);
    expect(await moneyOf(world.sql, agentId)).toMatchObject({ charged: 0n, held: 0n });
  });

  it('a number purchase is refused with 402 by a balance, a policy or a spend limit, with the amount available', async () => {
    const { agentId, buy, call, credit } = await renter(1_999_999n);
    const poor = await buy();
    expect(refusal(poor)).toEqual([402, 'insufficient_balance']);
    expect(poor.body).toMatchObject({ available: '1999999', required: '2000000' });
    await credit(10_000_000n);
    const policy = await call('POST', '/policies', {
      kind: 'api',
      matchKey: 'phone',
      limitRaw: '1000000',
    });
    expect(refusal(await buy())).toEqual([402, 'policy_exceeded']);
    const { id } = policy.body.policy as { id: number };
    await call('DELETE', `/policies/${id}`);
    await call('PUT', '/spend-limit', { limitRaw: '1999999' });
    expect(refusal(await buy())).toEqual([402, 'spend_limit_exceeded']);
    expect(await moneyOf(world.sql, agentId)).toMatchObject({ charged: 0n, held: 0n });
    await call('DELETE', '/spend-limit');
    expect((await buy()).status).toBe(201);
  });

  it('a number purchase is refused with 403 when the phone service of the account is suspended', async () => {
    const { accountId, buy } = await renter();
    await world.sql`insert into telephony_suspensions (account_id, reason)
      values (${accountId}, 'carrier_usage')`;
    expect(refusal(await buy())).toEqual([403, 'telephony_suspended']);
  });

  it('a number purchase is refused with 404 for an agent of another developer, as is every number route', async () => {
    const owner = await renter();
    const { number } = (await owner.buy()).body as { number: { id: number } };
    const { headers } = await renter(0n);
    const base = `/v1/developer/agents/${owner.agentId}/numbers`;
    for (const [method, path] of [
      ['POST', ''],
      ['GET', ''],
      ['GET', '/search'],
      ['GET', `/${number.id}`],
      ['DELETE', `/${number.id}`],
      ['GET', `/${number.id}/calls`],
      ['GET', `/${number.id}/usage`],
    ] as const) {
      const told = await to(base + path, { method, headers });
      expect([method, path, ...refusal(told)]).toEqual([method, path, 404, 'not_found']);
    }
    expect(refusal(await owner.call('GET', '/numbers/2147483647'))).toEqual([404, 'not_found']);
  });

  it('a number purchase is refused with 409 and the existing number, before its body is read', async () => {
    const { buy } = await renter();
    const { number } = (await buy()).body;
    for (const body of [{}, { areaCode: 'x' }, { areaCode: '415' }]) {
      const told = await buy(body);
      expect(refusal(told)).toEqual([409, 'number_exists']);
      expect(told.body.number).toEqual(number);
    }
  });

  it('a number purchase is refused with 409 when no such number is for sale, or another agent has it', async () => {
    const [one, two] = [await renter(), await renter()];
    const phoneNumber = '+12065550123';
    expect((await one.buy({ phoneNumber })).status).toBe(201);
    expect(refusal(await two.buy({ phoneNumber }))).toEqual([409, 'no_numbers_available']);
    expect(refusal(await two.buy({ phoneNumber: '+12065551234' }))).toEqual([
      409,
      'no_numbers_available',
    ]);
  });

  it('a number purchase is refused with 409 for an agent that is suspended, closed or not provisioned yet', async () => {
    const { agentId, buy, call } = await renter();
    await call('PATCH', '/status', { status: 'suspended' });
    expect(refusal(await buy())).toEqual([409, 'agent_unavailable']);
    await call('POST', '/close');
    expect(refusal(await buy())).toEqual([409, 'agent_unavailable']);
    await world.sql`update agents set status = 'pending_delegation', wallet_address = null,
      provision_next_at = now() + interval '1 day' where id = ${agentId}`;
    expect(refusal(await buy())).toEqual([409, 'agent_not_ready']);
  });

  it('a number purchase is refused with 502 when the carrier does not sell it, and nothing is charged', async () => {
    await using numbers = await startNumberWorld();
    const agent = await numbers.agent(5_000_000n);
    const { sql, carrier } = numbers;
    // The developer that the keys of the edge belong to.
    await sql`insert into developers (account_id, wallet) values ('acct_0123456789ab', '0xaa')`;
    await sql`update agents set account_id = 'acct_0123456789ab'`;
    await using edge = await startKeyedEdge(sql, [buyAgentNumber, searchAgentNumbers], {
      services: { numbers: numbers.numbers },
    });
    const path = `${edge.url}/v1/developer/agents/${agent.agentId}/numbers`;
    const how = { headers: bearer(KEYS.developer), body: { areaCode: '212' } };
    carrier.deal = 'refused';
    expect(refusal(await ask(path, how))).toEqual([502, 'provisioning_failed']);
    carrier.deal = 'taken';
    expect(refusal(await ask(path, how))).toEqual([409, 'no_numbers_available']);
    expect(await moneyOf(sql, agent.agentId)).toMatchObject({ charged: 0n, held: 0n });
    carrier.offered = () => [];
    expect(refusal(await ask(path, how))).toEqual([409, 'no_numbers_available']);
  });
});

describe('a server without a carrier', () => {
  it('a server without a carrier answers 503 on every phone route, and says so in its capabilities', async () => {
    await using silent = await startWorld({ PHONE_CARRIER: 'none' });
    const developer = await newDeveloper(silent.api, 'silent');
    const agentId = await developer.createAgent('caller');
    const { key } = await developer.mintKey(agentId);
    const base = `/v1/developer/agents/${agentId}`;
    for (const [method, path] of [
      ['POST', `${base}/numbers`],
      ['GET', `${base}/numbers`],
      ['GET', `${base}/numbers/search`],
      ['GET', `${base}/numbers/1`],
      ['DELETE', `${base}/numbers/1`],
      ['GET', `${base}/numbers/1/calls`],
      ['GET', `${base}/numbers/1/usage`],
      ['GET', `${base}/voice`],
      ['PATCH', `${base}/voice`],
      ['POST', `${base}/voice`],
      ['GET', '/v1/developer/phone/numbers'],
    ] as const) {
      const told = await ask(silent.url + path, { method, headers: developer.headers });
      expect([path, ...refusal(told)]).toEqual([path, 503, 'telephony_unavailable']);
    }
    const own = { headers: { authorization: `Bearer ${key}` }, body: {} };
    expect(refusal(await ask(`${silent.url}/v1/numbers`, own))).toEqual([
      503,
      'telephony_unavailable',
    ]);
    const telephony = async (url: string) =>
      (await ask(`${url}/v1/capabilities`)).body.capabilities as Record<string, boolean>;
    expect((await telephony(silent.url)).telephony).toBe(false);
    expect((await telephony(world.url)).telephony).toBe(true);
  });
});
