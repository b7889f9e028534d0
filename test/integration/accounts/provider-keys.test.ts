import { describe, expect, it } from 'vitest';
import { ACCOUNT_LIMITS } from '../../../src/accounts/limits.ts';
import { accountsWorld } from '../../support/accounts.ts';
import { accountsEdge, useAccountsEdge } from '../../support/accounts-edge.ts';
import { testDatabase } from '../../support/database.ts';
import { bearer } from '../../support/edge.ts';
import { ERROR, logLines } from '../../support/log-lines.ts';

const accounts = useAccountsEdge();
const { ask } = accounts;
const PATH = '/v1/developer/provider-keys';
const KEY = 'sk-proj-0123456789abcdef';

/** A developer of that name: headers, and what may be done with keys at providers. */
async function developer(name: string) {
  const headers = await accounts.edge.developer(name);
  const { accountId, wallet } = await accounts.world.owner(name);
  return {
    headers,
    accountId,
    wallet,
    put: (provider: string, body: unknown) => ask('PUT', `${PATH}/${provider}`, { headers, body }),
    patch: (provider: string, enabled: unknown) =>
      ask('PATCH', `${PATH}/${provider}`, { headers, body: { enabled } }),
    remove: (provider: string) => ask('DELETE', `${PATH}/${provider}`, { headers }),
    list: async () => (await ask('GET', PATH, { headers })).body,
    find: (provider: string) => accounts.world.providerKeys.find(accountId, provider),
    events: async () => [
      ...(await accounts.sql<{ name: string; payload: Record<string, unknown> }[]>`
        select name, payload from events
        where account_id = ${accountId} and name like 'provider_key.%' order by id`),
    ],
  };
}

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

describe('the routes of provider keys', () => {
  it('the provider key routes store a key, return it masked, and name the providers that take one', async () => {
    const { put, list, wallet, find } = await developer('stores');
    expect(await list()).toEqual({ providerKeys: [], supportedProviders: ['anthropic', 'openai'] });
    const stored = await put('openai', { key: `  ${KEY}\n`, label: 'ours' });
    expect(stored).toMatchObject({ status: 200 });
    expect(stored.body).toEqual({
      provider: 'openai',
      keyPrefix: 'sk-p...',
      label: 'ours',
      enabled: true,
      createdBy: wallet,
      lastUsedAt: null,
      createdAt: instant,
      updatedAt: stored.body.createdAt,
    });
    expect((await list()).providerKeys).toEqual([stored.body]);
    expect(await find('openai')).toBe(KEY);
    expect(await find('anthropic')).toBeUndefined();
  });

  it('a second provider key for one provider replaces the first, works at once and is enabled', async () => {
    const { put, patch, list, find } = await developer('replaces');
    const first = await put('openai', { key: KEY, label: 'ours' });
    await patch('openai', false);
    expect(await find('openai')).toBeUndefined();
    const second = await put('openai', { key: 'another-key' });
    expect(second.body).toMatchObject({ keyPrefix: 'an...', label: 'ours', enabled: true });
    expect(second.body.createdAt).toBe(first.body.createdAt);
    expect(Date.parse(second.body.updatedAt)).toBeGreaterThan(Date.parse(first.body.updatedAt));
    expect((await list()).providerKeys).toEqual([second.body]);
    expect(await find('openai')).toBe('another-key');
    expect((await put('openai', { key: KEY, label: null })).body.label).toBeNull();
  });

  it('a provider key is disabled, enabled and deleted, and the next call obeys each change', async () => {
    const { put, patch, remove, list, find } = await developer('switches');
    await put('openai', { key: KEY });
    await put('anthropic', { key: 'other' });
    expect(await find('openai')).toBe(KEY);
    expect((await patch('openai', false)).body).toEqual({ provider: 'openai', enabled: false });
    expect(await find('openai')).toBeUndefined();
    expect((await list()).providerKeys).toMatchObject([{ enabled: true }, { enabled: false }]);
    expect((await patch('openai', true)).body).toEqual({ provider: 'openai', enabled: true });
    expect(await find('openai')).toBe(KEY);
    const gone = await remove('openai');
    expect([gone.status, gone.body]).toEqual([200, { message: expect.any(String) }]);
    expect(await find('openai')).toBeUndefined();
    expect(await find('anthropic')).toBe('other');
    expect((await list()).providerKeys).toMatchObject([{ provider: 'anthropic' }]);
  });

  it('the provider key routes answer 404 for an absent key, and 400 with the list of providers for an unknown one', async () => {
    const { put, patch, remove } = await developer('misses');
    for (const told of [await patch('openai', true), await remove('openai')]) {
      expect([told.status, told.body.error]).toEqual([404, 'not_found']);
    }
    for (const name of ['acme', 'OpenAI', 'sk-secret-in-path', '%F0%9F%94%91', '__proto__']) {
      for (const told of [
        await put(name, { key: KEY }),
        await patch(name, true),
        await remove(name),
      ]) {
        expect([told.status, told.body.error], name).toEqual([400, 'unknown_provider']);
        expect(told.body.supportedProviders).toEqual(['anthropic', 'openai']);
        expect(told.body.message).toContain('anthropic, openai');
        expect(JSON.stringify(told.body)).not.toContain('secret');
      }
    }
    expect((await put('%00', { key: KEY })).status).toBe(400);
  });

  it('the provider key routes refuse a malformed key, and never repeat it', async () => {
    const { put, patch, list } = await developer('careless');
    const bodies = [
      {},
      { key: '' },
      { key: '   ' },
      { key: 'secret'.repeat(100) },
      { key: 'secret\u00e9' },
      { key: 'sec\nret' },
      { key: ['secret'] },
      { key: KEY, label: 'secret'.repeat(30) },
      '{"key": "secret',
    ];
    for (const body of bodies) {
      const told = await put('openai', body);
      expect([told.status, told.body.error], JSON.stringify(body)).toEqual([
        400,
        'Invalid request',
      ]);
      expect(JSON.stringify(told.body)).not.toMatch(/sec/);
    }
    expect((await patch('openai', 'yes')).status).toBe(400);
    expect((await list()).providerKeys).toEqual([]);
    expect((await put('openai', { key: 'k'.repeat(512) })).status).toBe(200);
  });

  it('the provider key routes take management credentials, and a change takes one that may write', async () => {
    const { headers, put, find } = await developer('guards');
    await put('openai', { key: KEY });
    const body = { permissions: 'read' };
    const made = await ask('POST', '/v1/developer/keys', { headers, body });
    const reader = bearer(made.body.key);
    expect((await ask('GET', PATH, { headers: reader })).body.providerKeys).toHaveLength(1);
    const { key: agentKey } = await accounts.edge.agentOf('guards too');
    const asks = [
      ['PUT', { key: 'taken-over' }],
      ['PATCH', { enabled: false }],
      ['DELETE', undefined],
    ] as const;
    for (const [method, sent] of asks) {
      const at = `${PATH}/openai`;
      expect((await ask(method, at, { headers: reader, body: sent })).status, method).toBe(403);
      expect((await ask(method, at, { headers: agentKey, body: sent })).status, method).toBe(401);
      expect((await ask(method, at, { body: sent })).status, method).toBe(401);
    }
    expect((await ask('GET', PATH, { headers: agentKey })).status).toBe(401);
    expect(await find('openai')).toBe(KEY);
  });

  it('the provider key routes answer 503 on a server without a secret, and its calls find no key', async () => {
    await using db = await testDatabase();
    const world = accountsWorld(db.sql, { sealingSecret: undefined });
    await using edge = await accountsEdge(world);
    const headers = await edge.developer('secretless');
    const at = `${PATH}/openai`;
    for (const told of [
      await edge.ask('GET', PATH, { headers }),
      await edge.ask('PUT', at, { headers, body: { key: KEY } }),
      await edge.ask('PATCH', at, { headers, body: { enabled: true } }),
      await edge.ask('DELETE', at, { headers }),
    ]) {
      expect([told.status, told.body.error]).toEqual([503, 'provider_keys_unavailable']);
      expect(told.body.message).toContain('PROVIDER_KEY_SECRET');
    }
    const { accountId } = await world.owner('secretless');
    expect(await world.providerKeys.find(accountId, 'openai')).toBeUndefined();
  });

  it('a provider key whose provider left the catalogue can still be disabled and deleted', async () => {
    const { put, patch, remove, accountId } = await developer('outlives');
    await put('openai', { key: KEY });
    await accounts.sql`
      update provider_keys set provider = 'left' where account_id = ${accountId}`;
    expect((await patch('left', false)).status).toBe(200);
    expect((await remove('left')).status).toBe(200);
    expect((await remove('left')).status).toBe(400);
  });
});

describe('a vendor with several addresses', () => {
  it('a vendor with several addresses has one provider key, whichever address it was stored for', async () => {
    const { put, list, patch, find, remove } = await developer('one-key');
    const stored = await put('openai-realtime', { key: KEY });
    expect(stored.body).toMatchObject({ provider: 'openai' });
    expect([await find('openai'), await find('openai-realtime')]).toEqual([KEY, KEY]);
    expect(await find('anthropic')).toBeUndefined();

    const next = 'sk-proj-of-another-day';
    expect((await put('openai', { key: next })).status).toBe(200);
    expect((await list()).providerKeys).toMatchObject([{ provider: 'openai' }]);
    expect(await find('openai-realtime')).toBe(next);
    expect((await patch('openai-realtime', false)).status).toBe(200);
    expect(await find('openai')).toBeUndefined();
    expect((await remove('openai-realtime')).status).toBe(200);
    expect((await remove('openai-realtime')).status).toBe(404);
  });

  it('a provider key that was stored for one address of a vendor is still used for that address', async () => {
    const { accountId, list, patch, put, remove } = await developer('old-row');
    const owner = await accounts.world.owner('old-row');
    const before = accountsWorld(accounts.sql, { keysByProvider: true });
    await before.providerKeys.set(owner, 'openai-realtime', { key: KEY });

    const { providerKeys } = accountsWorld(accounts.sql);
    const find = (provider: string) => providerKeys.find(accountId, provider);
    expect(await find('openai-realtime')).toBe(KEY);
    // It was never meant for the other address.
    expect(await find('openai')).toBeUndefined();
    await providerKeys.noteUse(accountId, 'openai-realtime');

    const whole = 'sk-proj-of-the-vendor';
    await put('openai', { key: whole });
    expect((await list()).providerKeys).toMatchObject([
      { provider: 'openai' },
      { provider: 'openai-realtime' },
    ]);
    const later = () => accountsWorld(accounts.sql).providerKeys;
    expect(await later().find(accountId, 'openai')).toBe(whole);
    expect(await later().find(accountId, 'openai-realtime')).toBe(KEY);
    expect((await patch('openai-realtime', false)).status).toBe(200);
    expect((await remove('openai-realtime')).status).toBe(200);
    expect(await later().find(accountId, 'openai-realtime')).toBe(whole);
  });
});

describe('events of provider keys', () => {
  it('each provider key change writes one event with its author and the masked prefix of the key', async () => {
    const { put, patch, remove, events, wallet } = await developer('tells');
    await put('openai', { key: KEY, label: 'ours' });
    await put('openai', { key: 'another-key' });
    await patch('openai', false);
    await patch('openai', false);
    await remove('openai');
    await remove('openai');
    const told = await events();
    expect(told.map(({ name }) => name)).toEqual([
      'provider_key.created',
      'provider_key.updated',
      'provider_key.updated',
      'provider_key.deleted',
    ]);
    expect(told[0]?.payload).toEqual({
      provider: 'openai',
      keyPrefix: 'sk-p...',
      label: 'ours',
      enabled: true,
      actorWallet: wallet,
    });
    expect(told[2]?.payload).toMatchObject({ keyPrefix: 'an...', enabled: false });
  });

  it('a provider key change and its event commit together or not at all', async () => {
    await using db = await testDatabase();
    const { providerKeys, owner } = accountsWorld(db.sql);
    const mine = await owner('atomic');
    await providerKeys.set(mine, 'openai', { key: KEY });
    await db.sql`alter table events rename to events_away`;
    await expect(providerKeys.set(mine, 'openai', { key: 'second' })).rejects.toThrow();
    await expect(providerKeys.set(mine, 'anthropic', { key: 'second' })).rejects.toThrow();
    await expect(providerKeys.toggle(mine, 'openai', false)).rejects.toThrow();
    await expect(providerKeys.remove(mine, 'openai')).rejects.toThrow();
    expect(await providerKeys.find(mine.accountId, 'openai')).toBe(KEY);
    expect(await providerKeys.list(mine.accountId)).toHaveLength(1);
  });

  it('eight concurrent stores of one provider key write one creation event', async () => {
    const { put, events, find, list, accountId } = await developer('races');
    const keys = Array.from({ length: 8 }, (_, n) => `key-number-${n}`);
    const told = await Promise.all(keys.map((key) => put('openai', { key })));
    expect(told.map(({ status }) => status)).toEqual(keys.map(() => 200));
    const names = (await events()).map(({ name }) => name);
    expect(names.filter((name) => name === 'provider_key.created')).toHaveLength(1);
    expect(names).toHaveLength(8);
    expect((await list()).providerKeys).toHaveLength(1);
    const left = await accountsWorld(accounts.sql).providerKeys.find(accountId, 'openai');
    expect(keys).toContain(left);
    expect(await find('openai')).toBe(left);
  });
});

describe('a stored provider key', () => {
  it('a stored provider key is never in clear in its row, and equal keys are encrypted differently', async () => {
    const one = await developer('seals one');
    const two = await developer('seals two');
    await one.put('openai', { key: KEY });
    await one.put('anthropic', { key: KEY });
    await two.put('openai', { key: KEY });
    const rows = await accounts.sql<{ sealed_key: Buffer }[]>`
      select sealed_key from provider_keys
      where account_id in (${one.accountId}, ${two.accountId})`;
    const looks = rows.map(({ sealed_key }) => sealed_key.toString('hex'));
    expect(new Set(looks).size).toBe(3);
    for (const { sealed_key } of rows) {
      expect(sealed_key).toHaveLength(12 + KEY.length + 16);
      expect(sealed_key.includes(Buffer.from(KEY))).toBe(false);
    }
  });

  it('a stored provider key is found by its own account alone', async () => {
    const { put } = await developer('owns');
    const { find, list, patch, remove } = await developer('covets');
    await put('openai', { key: KEY });
    expect(await find('openai')).toBeUndefined();
    expect((await list()).providerKeys).toEqual([]);
    expect((await patch('openai', false)).status).toBe(404);
    expect((await remove('openai')).status).toBe(404);
  });

  it('a sealed provider key decrypts in no row of another account or another provider', async () => {
    const owns = await developer('is robbed');
    const robs = await developer('robs');
    const { log, lines } = logLines();
    const { providerKeys } = accountsWorld(accounts.sql, { log });
    for (const provider of ['openai', 'anthropic']) {
      await owns.put(provider, { key: `${KEY}-${provider}` });
      await robs.put(provider, { key: `mine-${provider}` });
    }
    const move = (from: string, provider: string, to: string, at: string) => accounts.sql`
      update provider_keys set sealed_key = (
        select sealed_key from provider_keys where account_id = ${from} and provider = ${provider})
      where account_id = ${to} and provider = ${at}`;
    await move(owns.accountId, 'openai', robs.accountId, 'openai');
    await move(owns.accountId, 'openai', owns.accountId, 'anthropic');
    expect(await providerKeys.find(robs.accountId, 'openai')).toBeUndefined();
    expect(await providerKeys.find(owns.accountId, 'anthropic')).toBeUndefined();
    expect(await providerKeys.find(owns.accountId, 'openai')).toBe(`${KEY}-openai`);
    expect(await providerKeys.find(robs.accountId, 'anthropic')).toBe('mine-anthropic');
    expect(lines.filter(({ level }) => level === ERROR)).toMatchObject([
      { accountId: robs.accountId, provider: 'openai' },
      { accountId: owns.accountId, provider: 'anthropic' },
    ]);
    expect(JSON.stringify(lines)).not.toContain(KEY);
  });

  it('a stored provider key reads as absent under another secret, and is readable again under its own', async () => {
    const { put, accountId } = await developer('rotates');
    await put('openai', { key: KEY });
    const { log, lines } = logLines();
    const other = accountsWorld(accounts.sql, { log, sealingSecret: 'another secret' });
    expect(await other.providerKeys.find(accountId, 'openai')).toBeUndefined();
    expect(await other.providerKeys.find(accountId, 'openai')).toBeUndefined();
    expect(lines).toHaveLength(1);
    expect(await accountsWorld(accounts.sql).providerKeys.find(accountId, 'openai')).toBe(KEY);
  });

  it('a provider key change is obeyed by another process when its cached copy expires', async () => {
    const { put, patch, remove, accountId } = await developer('travels');
    const { providerKeys, clock } = accountsWorld(accounts.sql);
    const there = () => providerKeys.find(accountId, 'openai');
    expect(await there()).toBeUndefined();
    await put('openai', { key: KEY });
    clock.advance(ACCOUNT_LIMITS.providerKey.cacheMs);
    expect(await there()).toBe(KEY);
    for (const { change, now } of [
      { change: () => put('openai', { key: 'second' }), now: 'second' },
      { change: () => patch('openai', false), now: undefined },
      { change: () => patch('openai', true), now: 'second' },
      { change: () => remove('openai'), now: undefined },
    ]) {
      await change();
      clock.advance(ACCOUNT_LIMITS.providerKey.cacheMs);
      expect(await there()).toBe(now);
    }
  });

  it('a provider key records its last use in batches, and the record restarts when the key is replaced', async () => {
    const { put, find, list, accountId } = await developer('uses');
    await put('openai', { key: KEY });
    await put('anthropic', { key: 'never-used' });
    await find('anthropic');
    await accounts.world.providerKeys.noteUse(accountId, 'openai');
    const written = async () =>
      accounts.sql`select provider from provider_keys
        where account_id = ${accountId} and last_used_at is not null`;
    expect(await written()).toHaveLength(0);
    const used = new Date(accounts.world.clock.now()).toISOString();
    expect((await list()).providerKeys).toMatchObject([
      { provider: 'anthropic', lastUsedAt: null },
      { provider: 'openai', lastUsedAt: used },
    ]);
    expect(await written()).toHaveLength(1);
    expect((await put('openai', { key: 'second' })).body.lastUsedAt).toBeNull();
  });
});
