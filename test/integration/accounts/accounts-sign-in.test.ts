import { describe, expect, it } from 'vitest';
import { useAccountsEdge } from '../../support/accounts-edge.ts';
import { bearer } from '../../support/edge.ts';
import { testWallet } from '../../support/wallet.ts';

const accounts = useAccountsEdge();
const { ask } = accounts;

describe('signing in', () => {
  it('a fresh wallet signature signs in to a session of seven days', async () => {
    const wallet = testWallet('signs in');
    const headers = await wallet.headers(accounts.world.clock.now());
    const signedIn = await ask('POST', '/v1/developer/auth/verify', {
      headers,
      body: { src: 'docs' },
    });
    const { developer } = signedIn.body;
    expect(signedIn.status).toBe(200);
    expect(signedIn.body).toEqual({
      developer: {
        walletAddress: wallet.address,
        displayName: null,
        email: null,
        accountId: expect.stringMatching(/^acct_[0-9a-f]{12}$/),
        createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      },
    });
    const cookie = signedIn.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^svc_session=[\w-]+\.[\w-]+\.[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800$/,
    );
    const session = { cookie: cookie.split(';')[0] ?? '' };
    const profile = await ask('GET', '/v1/developer/profile', { headers: session });
    expect(profile.body).toEqual({
      developer: { ...developer, role: 'owner', aiToolConnectedAt: null },
      walletAddress: wallet.address,
      displayName: null,
      registeredAt: developer.createdAt,
      agents: [],
      usage: { totalRequests: 0, totalSpentRaw: '0' },
    });
    const again = await ask('POST', '/v1/developer/auth/verify', { headers: session });
    expect(again).toMatchObject({ status: 401, body: { error: 'Unauthorized' } });
  });

  it('sign-in refuses a stale, foreign, incomplete or forged signature with the specified errors', async () => {
    const wallet = testWallet('refused');
    const now = accounts.world.clock.now();
    const verify = (headers: Record<string, string>) =>
      ask('POST', '/v1/developer/auth/verify', { headers });
    const good = await wallet.headers(now);
    for (const shiftSeconds of [-301, 301]) {
      const stale = await wallet.headers(now + shiftSeconds * 1_000);
      expect(await verify(stale)).toMatchObject({
        status: 401,
        body: { error: 'Timestamp out of window' },
      });
    }
    expect(await verify(await wallet.headers(now - 300_000))).toMatchObject({ status: 200 });
    expect(
      await verify({ ...good, 'x-wallet-address': testWallet('other').address }),
    ).toMatchObject({ status: 401, body: { error: 'Invalid signature' } });
    const { 'x-signature': _, ...incomplete } = good;
    expect(await verify(incomplete)).toMatchObject({
      status: 401,
      body: { error: 'Unauthorized' },
    });
    expect(await ask('GET', '/v1/developer/profile', { headers: bearer('a.b.c') })).toMatchObject({
      status: 401,
      body: { error: 'Invalid JWT' },
    });
  });
});

describe('an account of an address that has no key', () => {
  it('an account of an address without a key accepts no session, developer key or signature of before', async () => {
    const { world } = accounts;
    const wallet = `0x${'0'.repeat(40)}`;
    const { accountId } = await world.accounts.ofWallet(wallet);
    const token = await world.sessions.issue({ wallet, id: 'sess_1', generation: 0 });
    expect(await ask('GET', '/v1/developer/profile', { headers: bearer(token) })).toMatchObject({
      status: 401,
      body: { error: 'Invalid JWT' },
    });
    const { secret } = await world.developerKeys.create(
      { accountId, wallet },
      { permissions: 'read_write' },
    );
    expect(await ask('GET', '/v1/developer/profile', { headers: bearer(secret) })).toMatchObject({
      status: 401,
    });
    const shared = {
      'x-wallet-address': wallet,
      'x-signature': `0x${'00'.repeat(64)}1b`,
      'x-timestamp': String(Math.floor(world.clock.now() / 1_000)),
    };
    expect(await ask('POST', '/v1/developer/auth/verify', { headers: shared })).toMatchObject({
      status: 401,
      body: { error: 'Invalid signature' },
    });
  });
});

describe('developer keys', () => {
  it('a developer key shows its secret once, at its creation, and only its prefix afterwards', async () => {
    const headers = await testWallet('key owner').headers(accounts.world.clock.now());
    const made = await ask('POST', '/v1/developer/keys', { headers, body: { label: 'ci' } });
    expect(made.status).toBe(201);
    const { key, ...record } = made.body;
    expect(key).toMatch(/^svc_live_[0-9A-Za-z]{40}$/);
    expect(record).toEqual({
      id: expect.any(Number),
      keyId: String(record.id),
      keyPrefix: `${key.slice(0, 13)}...`,
      prefix: `${key.slice(0, 13)}...`,
      label: 'ci',
      permissions: 'read',
      createdAt: expect.any(String),
      expiresAt: null,
      lastUsedAt: null,
    });
    const used = await ask('GET', '/v1/developer/keys', { headers: bearer(key) });
    expect(used.body).toEqual({
      keys: [{ ...record, lastUsedAt: new Date(accounts.world.clock.now()).toISOString() }],
    });
    expect(await ask('POST', '/v1/developer/keys', { headers: bearer(key) })).toMatchObject({
      status: 403,
      body: { error: 'read_only_key' },
    });
  });

  it('a developer key is revoked at once, and a key of another wallet reads as absent', async () => {
    const headers = await accounts.edge.developer('revoker');
    const victim = (await ask('POST', '/v1/developer/keys', { headers })).body;
    const path = `/v1/developer/keys/${victim.id}`;
    const foreign = await accounts.edge.developer('foreigner');
    const absent = await ask('DELETE', '/v1/developer/keys/2147483647', { headers: foreign });
    expect(absent).toMatchObject({ status: 404, body: { error: 'Key not found' } });
    for (const [verb, place] of [
      ['DELETE', path],
      ['POST', `${path}/rotate`],
    ] as const) {
      const { status, body } = await ask(verb, place, { headers: foreign });
      expect([status, body], verb).toEqual([404, absent.body]);
    }
    expect(await ask('DELETE', path, { headers })).toMatchObject({
      status: 200,
      body: { message: 'API key revoked', deleted: true, keyId: victim.keyId },
    });
    expect(await ask('GET', '/v1/developer/keys', { headers: bearer(victim.key) })).toMatchObject({
      status: 401,
      body: { error: 'Invalid API key' },
    });
    for (const absent of [path, '/v1/developer/keys/2147483648', '/v1/developer/keys/999999']) {
      expect(await ask('DELETE', absent, { headers })).toMatchObject({
        status: 404,
        body: { error: 'Key not found', message: 'API key not found or already revoked' },
      });
    }
  });

  it('a developer key is rotated in one step and inherits the fields that the request leaves out', async () => {
    const headers = await accounts.edge.developer('rotator');
    const expiresAt = new Date(accounts.world.clock.now() + 60_000).toISOString();
    const body = { label: 'short', permissions: 'read_write', expiresAt };
    const old = (await ask('POST', '/v1/developer/keys', { headers, body })).body;
    const heir = await ask('POST', `/v1/developer/keys/${old.id}/rotate`, { headers, body: {} });
    expect(heir).toMatchObject({ status: 201, body: { ...body, key: expect.any(String) } });
    const profile = (key: string) => ask('GET', '/v1/developer/profile', { headers: bearer(key) });
    expect((await profile(old.key)).status).toBe(401);
    expect((await profile(heir.body.key)).status).toBe(200);
    const [event] = await accounts.sql`select payload from events where name = 'key.rotated'`;
    expect(event?.payload).toMatchObject({
      keyId: heir.body.id,
      rotatedFromKeyId: old.id,
      keyType: 'developer',
      keyPrefix: heir.body.keyPrefix,
    });
    accounts.world.clock.advance(60_000);
    expect((await profile(heir.body.key)).status).toBe(401);
  });

  it('the developer key routes refuse a bad body with their documented errors', async () => {
    const headers = await accounts.edge.developer('bad bodies');
    const bodies = [
      '{',
      '[]',
      { label: 7 },
      { label: 'x'.repeat(101) },
      { permissions: 'all' },
      { expiresAt: 'tomorrow' },
      { expiresAt: new Date(accounts.world.clock.now() - 1).toISOString() },
    ];
    for (const body of bodies) {
      expect(await ask('POST', '/v1/developer/keys', { headers, body })).toMatchObject({
        status: 400,
        body: { error: 'Invalid request body', message: expect.any(String) },
      });
    }
  });
});
