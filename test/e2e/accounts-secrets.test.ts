import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { accountsWorld, agentWish } from '../support/accounts.ts';
import { testDatabase } from '../support/database.ts';
import { testWallet } from '../support/wallet.ts';
import { TestSocket } from '../support/web-socket-client.ts';
import { ask, newDeveloper, startWorld } from '../support/whole-world.ts';

/** A log at its most talkative, kept as text. */
function keptLog() {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: pino({ level: 'trace' }, stream), text: () => lines.join('') };
}

describe('secrets', () => {
  it('secrets are in no log line and in no database row, whatever succeeds and whatever fails', async () => {
    await using db = await testDatabase();
    const { log, text } = keptLog();
    const wallet = testWallet('secretive');
    const failing = { grant: () => Promise.reject(new Error('the node is away')) };
    const world = accountsWorld(db.sql, { log, delegation: failing });
    const proof = await wallet.sign(world.clock.now());
    const owner = await world.credentials.signature(proof);
    const developerKey = await world.developerKeys.create(owner, { label: 'ci' });
    const { agentId } = await world.agents.create(owner.accountId, agentWish('agent'));
    const agentKey = await world.agentKeys.mint(owner, agentId, {});
    const heir = await world.agentKeys.rotate(owner, agentId, agentKey.record.id, {});
    const providerKey = 'sk-proj-of-the-developer';
    await world.providerKeys.set(owner, 'openai', { key: providerKey, label: 'ours' });
    expect(await world.providerKeys.find(owner.accountId, 'openai')).toBe(providerKey);
    const { token } = await world.developers.signIn(owner);
    await world.credentials.session(token);
    await world.credentials.agentKey(heir.secret);
    await world.keyUse.flush();
    const unlucky = agentWish('unlucky', { borrowLimitRaw: 1n });
    await expect(world.agents.create(owner.accountId, unlucky)).rejects.toThrow();
    await world.agents.close(owner.accountId, agentId);

    const secrets = [
      developerKey.secret,
      agentKey.secret,
      heir.secret,
      providerKey,
      token,
      proof.signature,
      'hmac secret',
      'app secret',
      'authorization key',
      'sealing secret',
    ];
    const kept = text() + (await everyRow(db.sql));
    expect(text()).toContain('provisioning failed');
    expect(kept).toContain(owner.accountId);
    for (const secret of secrets) expect(kept).not.toContain(secret);
    // Nor any longer part of a key than the prefix that lists show.
    expect(kept).not.toContain(heir.secret.slice(0, 12));
    expect(kept).not.toContain(developerKey.secret.slice(0, 16));
  });
});

/** One model of a provider where no server listens, so that calls fail on the way out. */
const GONE = {
  providers: {
    acme: { baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: 'ACME_API_KEY', dialect: 'openai' },
  },
  models: [
    {
      id: 'acme/gone',
      modality: 'text',
      sources: [
        { rail: 'direct-account', provider: 'acme', upstreamModel: 'x', rates: { request: '1' } },
      ],
    },
  ],
};

describe('keys of developers at providers', () => {
  it("developers' provider keys, stored or sent along, are readable in no log line and in no database row, whatever fails", async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
    const CATALOG_FILE = join(directory, 'catalog.json');
    writeFileSync(CATALOG_FILE, JSON.stringify(GONE));
    const { log, text } = keptLog();
    const environment = { CATALOG_FILE, SSRF_ALLOW_LOCALHOST: '1' };
    const secret = (name: string) =>
      name.endsWith('_BASE_URL') ? undefined : 'sk-of-the-operator';
    await using world = await startWorld(environment, { log, secret });
    const developer = await newDeveloper(world.api, 'brings keys');
    const agent = await world.fund('brings a key along');
    const stored = `stored-${'x1'.repeat(20)}`;
    const sent = `sent-${'y2'.repeat(20)}`;

    const put = (provider: string, body: unknown) =>
      ask(`${world.url}/v1/developer/provider-keys/${provider}`, {
        method: 'PUT',
        headers: developer.headers,
        body,
      });
    expect((await put('acme', { key: stored, label: 'ours' })).status).toBe(200);
    expect((await put('acme', { key: `${stored}\u00e9` })).status).toBe(400);
    expect((await put('acme', { key: stored.repeat(20) })).status).toBe(400);
    expect((await put('acme', `{"key": "${stored}"`)).status).toBe(400);
    expect((await put('nobody', { key: stored })).status).toBe(400);
    expect((await put(stored, { key: stored })).status).toBe(400);
    await world.sql`alter table events rename to events_away`;
    expect((await put('openai', { key: stored })).status).toBe(500);
    await world.sql`alter table events_away rename to events`;

    const withKey = (key: string) => ({
      authorization: `Bearer ${agent.agentKey}`,
      'x-svc-provider-key': key,
    });
    const chat = async (model: string, key: string) => {
      const body = { model, messages: [{ role: 'user', content: 'What is 2 + 3?' }] };
      const headers = { ...withKey(key), 'idempotency-key': `${model} ${key.length}` };
      return (await ask(`${world.url}/v1/chat/completions`, { headers, body })).status;
    };
    await chat('local/guide', sent);
    await chat('local/guide', sent.repeat(20));
    expect(await chat('acme/gone', sent)).toBe(502);
    expect(await chat('nobody/knows', sent)).toBe(404);
    const target = { url: 'http://127.0.0.1:1/', headers: { 'X-Svc-Provider-Key': sent } };
    await ask(`${world.url}/v1/proxy/fetch`, { headers: withKey(sent), body: target });
    await ask(`${world.url}/v1/models`, { headers: withKey(sent) });
    for (const path of [
      '/v1/realtime?model=local/realtime',
      '/v1/audio/transcriptions/stream?model=local/pocketsphinx',
      '/v1/listen?model=local/pocketsphinx',
    ]) {
      const socket = new TestSocket(world.wsUrl + path, [], withKey(sent));
      await socket.opened();
      socket.ws.close();
      await socket.closed;
    }

    const kept = text() + (await everyRow(world.sql));
    rmSync(directory, { recursive: true });
    expect(text()).toContain('request failed');
    expect(text()).toContain('a source failed');
    expect(kept).toContain('acme/gone');
    for (const key of [stored, sent]) {
      // Of bytes a row shows the hex digits.
      for (const encoding of ['utf8', 'hex', 'base64'] as const) {
        expect(kept, encoding).not.toContain(Buffer.from(key.slice(0, 18)).toString(encoding));
      }
    }
  });
});

async function everyRow(sql: Awaited<ReturnType<typeof testDatabase>>['sql']): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`;
  const rows = await Promise.all(
    tables.map(({ name }) => sql`select t::text as row from ${sql(name)} as t`),
  );
  return JSON.stringify(rows);
}
