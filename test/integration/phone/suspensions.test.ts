import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import { findSuspension } from '../../../src/phone/calls/account-store.ts';
import { createSuspensions } from '../../../src/phone/suspensions/suspensions.ts';
import { accountsWorld } from '../../support/accounts.ts';
import { ADMIN, accountsEdge } from '../../support/accounts-edge.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

const PATH = '/v1/admin/telephony-suspensions';

let db: TestDatabase;
let edge: Awaited<ReturnType<typeof accountsEdge>>;
beforeAll(async () => {
  db = await testDatabase();
  const suspensions = createSuspensions({ sql: db.sql, log: silentLog });
  edge = await accountsEdge(Object.assign(accountsWorld(db.sql), { suspensions }));
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const admin = (method: 'GET' | 'PUT' | 'DELETE', path = '', body?: object) =>
  edge.ask(method, PATH + path, { headers: ADMIN, ...(body && { body }) });

async function accountOf(name: string): Promise<string> {
  await edge.developer(name);
  const [row] = await db.sql<{ account_id: string }[]>`
    select account_id from developers order by created_at desc limit 1`;
  return row?.account_id ?? 'none';
}

describe('the operator', () => {
  it('the operator suspends the phone service of an account, once, and lifts the suspension', async () => {
    const accountId = await accountOf('suspended');
    const first = await admin('PUT', `/${accountId}`, { reason: 'unpaid' });
    expect(first).toMatchObject({ status: 200, body: { accountId, reason: 'unpaid' } });
    expect((await admin('PUT', `/${accountId}`, {})).body).toEqual(first.body);
    expect(await findSuspension(db.sql, accountId)).toBe('unpaid');
    const lifted = await admin('DELETE', `/${accountId}`);
    expect(lifted).toMatchObject({ status: 200, body: { accountId, lifted: true } });
    expect(await findSuspension(db.sql, accountId)).toBeUndefined();
    expect((await admin('DELETE', `/${accountId}`)).status).toBe(404);
  });

  it('the operator reads all suspensions page by page, and lifts those of one reason together', async () => {
    const accounts: string[] = [];
    for (const name of ['a', 'b', 'c']) accounts.push(await accountOf(`paged ${name}`));
    for (const accountId of accounts) {
      await admin('PUT', `/${accountId}`, { reason: 'carrier_usage' });
    }
    const other = await accountOf('other');
    await admin('PUT', `/${other}`, {});
    const read: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await admin('GET', `?limit=2&cursor=${cursor}`);
      expect(body.suspensions.length).toBeLessThanOrEqual(2);
      read.push(...body.suspensions.map(({ accountId }: { accountId: string }) => accountId));
      cursor = body.nextCursor;
    }
    expect(read).toEqual([...accounts, other].sort());
    const lifted = await admin('DELETE', '?reason=carrier_usage');
    expect(lifted).toMatchObject({ status: 200, body: { reason: 'carrier_usage', lifted: 3 } });
    expect((await admin('GET')).body).toMatchObject({
      suspensions: [{ accountId: other, reason: 'admin_manual' }],
      nextCursor: null,
    });
  });

  it('a suspension by the operator is refused for an unknown account, an invalid reason, or another key', async () => {
    expect((await admin('PUT', '/acct_000000000000', {})).status).toBe(404);
    expect((await admin('PUT', '/acct_000000000000', { reason: 'Not Paid' })).status).toBe(400);
    expect((await admin('DELETE')).status).toBe(400);
    const headers = await edge.developer('stranger');
    expect((await edge.ask('GET', PATH, { headers })).status).toBe(401);
  });
});
