import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { accountsWorld, agentWish } from '../support/accounts.ts';
import { testDatabase } from '../support/database.ts';
import { testWallet } from '../support/wallet.ts';

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
  it('stand in no log line and in no row, whatever succeeds and whatever fails', async () => {
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
    const token = await world.sessions.issue(owner.wallet);
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
      token,
      proof.signature,
      'hmac secret',
      'app secret',
      'authorization key',
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

async function everyRow(sql: Awaited<ReturnType<typeof testDatabase>>['sql']): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`;
  const rows = await Promise.all(
    tables.map(({ name }) => sql`select t::text as row from ${sql(name)} as t`),
  );
  return JSON.stringify(rows);
}
