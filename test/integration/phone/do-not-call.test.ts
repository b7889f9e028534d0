import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoNotCall, type DoNotCall } from '../../../src/phone/dialling/do-not-call.ts';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
import { accountsWorld } from '../../support/accounts.ts';
import { accountsEdge } from '../../support/accounts-edge.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

const PATH = '/v1/developer/phone/do-not-call';

let db: TestDatabase;
let edge: Awaited<ReturnType<typeof accountsEdge>>;
let doNotCall: DoNotCall;

beforeAll(async () => {
  db = await testDatabase();
  doNotCall = createDoNotCall({ sql: db.sql });
  edge = await accountsEdge(Object.assign(accountsWorld(db.sql), { doNotCall }));
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const add = (headers: Record<string, string>, phoneNumber: unknown) =>
  edge.ask('POST', PATH, { headers, body: { phoneNumber } });

describe('the do-not-call list of an account', () => {
  it('the do-not-call list has each added number once, and lets it be removed', async () => {
    const headers = await edge.developer('adder');
    const first = await add(headers, '+14155550100');
    expect([first.status, first.body]).toEqual([
      201,
      { entry: { phoneNumber: '+14155550100', createdAt: expect.any(String) } },
    ]);
    expect((await add(headers, '+14155550100')).body).toEqual(first.body);
    const listed = await edge.ask('GET', PATH, { headers });
    expect(listed.body).toEqual({
      entries: [first.body.entry],
      nextCursor: null,
      hasMore: false,
    });
    const removed = await edge.ask('DELETE', `${PATH}/%2B14155550100`, { headers });
    expect([removed.status, removed.body]).toEqual([200, { message: 'Phone number removed' }]);
    const again = await edge.ask('DELETE', `${PATH}/+14155550100`, { headers });
    expect([again.status, again.body.error]).toEqual([404, 'not_found']);
  });

  it('the do-not-call list is read page by page, ordered by number', async () => {
    const headers = await edge.developer('reader');
    const numbers = ['+14155550101', '+14155550102', '+14155550103'];
    for (const number of numbers.toReversed()) await add(headers, number);
    const read: string[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null && page < 3; page++) {
      const query: string = cursor === '' ? '?limit=2' : `?limit=2&cursor=${cursor}`;
      const { body } = await edge.ask('GET', PATH + query, { headers });
      expect(body.hasMore).toBe(page === 0);
      read.push(...body.entries.map(({ phoneNumber }: { phoneNumber: string }) => phoneNumber));
      cursor = body.nextCursor;
    }
    expect(read).toEqual(numbers);
  });

  it.each([['4155550100'], ['+1 415 555 0100'], ['+0155550100'], ['']])(
    'the do-not-call list refuses %j',
    async (phoneNumber) => {
      const headers = await edge.developer('misspeller');
      const { body, status } = await add(headers, phoneNumber);
      expect([status, body.error]).toEqual([400, 'invalid_phone_number']);
    },
  );

  it('the do-not-call list belongs to its account, and no agent can read it', async () => {
    const { headers, key } = await edge.agentOf('owner');
    await add(headers, '+14155550100');
    const other = await edge.developer('other');
    expect((await edge.ask('GET', PATH, { headers: other })).body.entries).toEqual([]);
    expect((await edge.ask('DELETE', `${PATH}/+14155550100`, { headers: other })).status).toBe(404);
    expect((await edge.ask('GET', PATH, { headers: key })).status).toBe(401);
  });

  it('the do-not-call list tells whether one number is on it', async () => {
    await doNotCall.add('acct_x', '+14155550100');
    expect([
      await doNotCall.has('acct_x', '+14155550100'),
      await doNotCall.has('acct_x', '+14155550101'),
      await doNotCall.has('acct_y', '+14155550100'),
    ]).toEqual([true, false, false]);
  });

  it('the do-not-call list never exceeds its limit, even when two numbers are added at a time', async () => {
    const accountId = 'acct_full';
    await db.sql`insert into developers (account_id, wallet) values (${accountId}, ${accountId})`;
    await db.sql`insert into do_not_call (account_id, phone_number)
      select ${accountId}, '+1' || (4150000000 + n)
      from generate_series(1, ${PHONE_LIMITS.doNotCall.entries - 1}::int) n`;
    const added = await Promise.allSettled([
      doNotCall.add(accountId, '+12125550100'),
      doNotCall.add(accountId, '+12125550101'),
    ]);
    expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = added.find(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({ reason: { error: 'do_not_call_full', status: 409 } });
    // What is there already is no addition.
    expect(await doNotCall.add(accountId, '+14150000001')).toMatchObject({
      phoneNumber: '+14150000001',
    });
  });
});
