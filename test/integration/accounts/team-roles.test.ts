import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRight, RIGHTS, ROLES, type Role } from '../../../src/accounts/developers/role.ts';
import { type AnyRoute, ok, rightOf } from '../../../src/http/route/route.ts';
import { ROUTES } from '../../../src/routes/index.ts';
import { accountsWorld } from '../../support/accounts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { bearer } from '../../support/edge.ts';
import { type KeyedEdge, startKeyedEdge } from '../../support/keyed-edge.ts';
import { testWallet } from '../../support/wallet.ts';

const LISTED = (ROUTES as readonly AnyRoute[]).filter(({ credential }) =>
  /^(management|any)$/.test(credential),
);

/** The route with its declaration, behind which the handler tells for whom it was asked. */
const telling = (route: AnyRoute): AnyRoute => ({
  method: route.method,
  path: route.path,
  credential: route.credential,
  summary: route.summary,
  ...(route.right !== undefined && { right: route.right }),
  ...(route.permission !== undefined && { permission: route.permission }),
  ...(route.endsInId !== undefined && { endsInId: route.endsInId }),
  rateLimit: 'none',
  handle: ({ caller }) => ok({ accountId: caller.accountId, role: caller.role }),
});

let db: TestDatabase;
let world: ReturnType<typeof accountsWorld>;
let edge: KeyedEdge;
let account: Awaited<ReturnType<typeof world.owner>>;
beforeAll(async () => {
  db = await testDatabase();
  world = accountsWorld(db.sql);
  edge = await startKeyedEdge(db.sql, LISTED.map(telling), {
    credentials: world.credentials,
    clock: world.clock,
    rateLimits: { callerPerMinute: 1_000_000, globalPerMinute: 1_000_000 },
  });
  account = await world.owner('account');
  for (const role of ROLES) await join(role, role);
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** Makes the named wallet a member; its owner is one by an invite, too, beside the account's own wallet. */
async function join(name: string, role: Role): Promise<void> {
  const { wallet } = await world.owner(name);
  await db.sql`
    insert into members (account_id, wallet, role, email, invited_by)
    values (${account.accountId}, ${wallet}, ${role}, ${`${name}@example.com`}, ${account.wallet})`;
}

/** Credentials of a named wallet: a session, and a developer key of the account that the wallet has issued. */
async function credentialsOf(name: string) {
  const { wallet } = await world.owner(name);
  const signed = await world.developers.signIn({ accountId: '', wallet });
  const owner = { accountId: account.accountId, wallet: account.wallet };
  const issued = await world.developerKeys.create(owner, { permissions: 'read_write' });
  await db.sql`update developer_keys set created_by = ${wallet} where id = ${issued.record.id}`;
  return { session: bearer(signed.token), key: bearer(issued.secret), keyId: issued.record.id };
}

const pathOf = ({ path }: AnyRoute): string =>
  path.replace(/:wallet/, testWallet('nobody').address).replace(/:\w+/g, '1');

type Told = { readonly status: number; readonly told: string };

async function askAll(headers: Record<string, string>): Promise<Map<string, Told>> {
  const asked = LISTED.map(async (route): Promise<[string, Told]> => {
    const { method } = route;
    const answer = await fetch(edge.url + pathOf(route), { method, headers });
    const body = (await answer.json()) as { error?: string; accountId?: string; role?: string };
    const told = body.error ?? `${body.accountId} ${body.role}`;
    return [`${method} ${route.path}`, { status: answer.status, told }];
  });
  return new Map(await Promise.all(asked));
}

/** What every route is expected to answer, by its declaration. */
const expected = (answerOf: (route: AnyRoute) => Told): Map<string, Told> =>
  new Map(LISTED.map((route) => [`${route.method} ${route.path}`, answerOf(route)]));

const FORBIDDEN: Told = { status: 403, told: 'Forbidden' };
const isOfWallet = (route: AnyRoute): boolean => rightOf(route) === 'self';

describe('every route of developers', () => {
  for (const role of ROLES) {
    it(`every route admits a member with the role ${role} by its right alone, by session and by key, in the selected account`, async () => {
      const { session, key, keyId } = await credentialsOf(role);
      const own = (await world.owner(role)).accountId;
      const admitted = (accountId: string): Told => ({
        status: 200,
        told: `${accountId} ${accountId === own ? 'owner' : role}`,
      });
      const ofRole = (route: AnyRoute): Told =>
        hasRight(role, rightOf(route)) ? admitted(account.accountId) : FORBIDDEN;
      const selecting = { ...session, 'x-svc-account': account.accountId };
      expect(await askAll(selecting)).toEqual(
        expected((route) => (isOfWallet(route) ? admitted(own) : ofRole(route))),
      );
      expect(await askAll(key)).toEqual(expected(ofRole));

      // Without a selection a wallet acts for its own account, whatever its role elsewhere.
      expect(await askAll(session)).toEqual(expected(() => admitted(own)));

      const { wallet } = await world.owner(role);
      const asOwner = { ...account, role: 'owner' } as const;
      const removed = await world.team.remove(asOwner, wallet);
      expect(removed).toEqual({ ok: true, memberWallet: wallet, revokedKeys: 1 });
      expect(await askAll(selecting)).toEqual(
        expected((route) => (isOfWallet(route) ? admitted(own) : FORBIDDEN)),
      );
      const gone = { status: 401, told: 'Invalid API key' };
      expect(await askAll(key)).toEqual(expected(() => gone));
      expect(keyId).toBeGreaterThan(0);
    });
  }

  it('every route refuses a stranger who selects the account, and a caller who is signed out', async () => {
    const { wallet } = await world.owner('stranger');
    const signed = await world.developers.signIn({ accountId: '', wallet });
    const own = (await world.owner('stranger')).accountId;
    const selecting = { ...bearer(signed.token), 'x-svc-account': account.accountId };
    expect(await askAll(selecting)).toEqual(
      expected((route) => (isOfWallet(route) ? { status: 200, told: `${own} owner` } : FORBIDDEN)),
    );
    await world.developers.signOut({ accountId: own, wallet }, undefined);
    const invalid = { status: 401, told: 'Invalid JWT' };
    expect(await askAll(selecting)).toEqual(expected(() => invalid));
    const none = { status: 401, told: 'Unauthorized' };
    expect(await askAll({ 'x-svc-account': account.accountId })).toEqual(expected(() => none));
  });

  it('the walk covers every route that a developer may ask, and both kinds of refusal', () => {
    expect(LISTED.length).toBeGreaterThan(90);
    const least = LISTED.map((route) => RIGHTS[rightOf(route)]);
    for (const role of ['admin', 'member', 'viewer']) expect(least).toContain(role);
  });
});
