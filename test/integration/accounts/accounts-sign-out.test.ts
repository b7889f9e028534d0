import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCOUNT_LIMITS } from '../../../src/accounts/limits.ts';
import { accountsWorld } from '../../support/accounts.ts';
import { accountsEdge } from '../../support/accounts-edge.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { bearer } from '../../support/edge.ts';
import { testWallet } from '../../support/wallet.ts';

type Edge = Awaited<ReturnType<typeof accountsEdge>>;

let db: TestDatabase;
let here: Edge;
let there: Edge;
let world: ReturnType<typeof accountsWorld>;
beforeAll(async () => {
  db = await testDatabase();
  world = accountsWorld(db.sql);
  here = await accountsEdge(world);
  there = await accountsEdge(accountsWorld(db.sql, { clock: world.clock }));
});
afterAll(async () => {
  await here[Symbol.asyncDispose]();
  await there[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const PATH = '/v1/developer/auth/logout';

/** A session as a browser has it and as a client that reads the token. */
async function signIn(name: string) {
  const headers = await testWallet(name).headers(world.clock.now());
  const { headers: answered } = await here.ask('POST', '/v1/developer/auth/verify', { headers });
  const cookie = answered.get('set-cookie')?.split(';')[0] ?? '';
  return { cookie: { cookie }, bearer: bearer(cookie.slice('svc_session='.length)), headers };
}

const profile = async ({ ask }: Edge, headers: Record<string, string>) => {
  const { status, body } = await ask('GET', '/v1/developer/profile', { headers });
  return status === 200 ? status : [status, body.error];
};
const REFUSED = [401, 'Invalid JWT'];

describe('signing out', () => {
  it('signing out ends every token of the session in every process at once, and clears the cookie', async () => {
    const stolen = await signIn('signs out');
    const other = await signIn('signs out');
    expect(await profile(there, stolen.bearer)).toBe(200);
    world.clock.advance(4 * 86_400_000);
    const aged = await here.ask('GET', '/v1/developer/profile', { headers: stolen.cookie });
    const renewed = { cookie: aged.headers.get('set-cookie')?.split(';')[0] ?? '' };
    expect(await profile(there, renewed)).toBe(200);

    const out = await here.ask('POST', PATH, { headers: renewed });
    expect([out.status, out.body]).toEqual([200, { loggedOut: true, everywhere: false }]);
    expect(out.headers.getSetCookie().at(-1)).toBe(
      'svc_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
    );
    for (const edge of [here, there]) {
      for (const headers of [renewed, stolen.cookie, stolen.bearer]) {
        expect(await profile(edge, headers)).toEqual(REFUSED);
      }
      expect(await profile(edge, other.cookie)).toBe(200);
    }
    expect((await here.ask('POST', PATH, { headers: renewed })).status).toBe(401);
  });

  it('signing out everywhere takes a session, signature or developer key, and ends the sessions of no other account', async () => {
    const bystander = await signIn('bystander');
    for (const way of ['session', 'signature', 'developer key'] as const) {
      const first = await signIn('everywhere');
      const second = await signIn('everywhere');
      const by = {
        session: { headers: first.bearer, body: { everywhere: true } },
        signature: { headers: first.headers },
        'developer key': { headers: await here.developer('everywhere') },
      }[way];
      expect((await here.ask('POST', PATH, by)).body, way).toEqual({
        loggedOut: true,
        everywhere: true,
      });
      for (const headers of [first.cookie, first.bearer, second.cookie]) {
        expect(await profile(there, headers), way).toEqual(REFUSED);
      }
      expect(await profile(there, (await signIn('everywhere')).cookie), way).toBe(200);
    }
    expect(await profile(there, bystander.cookie)).toBe(200);
  });

  it('signing out is refused to a read-only developer key', async () => {
    const owner = await signIn('reader');
    const { body } = await here.ask('POST', '/v1/developer/keys', { headers: owner.cookie });
    const refused = await here.ask('POST', PATH, { headers: bearer(body.key) });
    expect([refused.status, refused.body.error]).toEqual([403, 'read_only_key']);
    expect(await profile(here, owner.cookie)).toBe(200);
  });

  it('an account keeps at most 100 ended sessions: one more ends all sessions, and expired ones are deleted', async () => {
    expect(ACCOUNT_LIMITS.session.endedKept).toBe(100);
    const kept = await signIn('many');
    const { accountId } = await world.accounts.ofWallet(testWallet('many').address.toLowerCase());
    const owner = { accountId, wallet: testWallet('many').address };
    const rows = () =>
      db.sql`select 1 from ended_sessions where account_id = ${accountId}`.then(
        (all) => all.length,
      );
    for (let n = 0; n < 100; n++) await world.developers.signOut(owner, `sess_${n}`);
    expect([await rows(), await profile(there, kept.cookie)]).toEqual([100, 200]);
    await world.developers.signOut(owner, 'sess_100');
    expect([await rows(), await profile(there, kept.cookie)]).toEqual([0, REFUSED]);

    await world.developers.signOut(owner, 'sess_old');
    world.clock.advance(ACCOUNT_LIMITS.session.tokenSeconds * 1_000);
    await world.developers.signOut(owner, 'sess_new');
    expect(await rows()).toBe(1);
  });
});
