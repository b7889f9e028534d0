import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { testWallet } from '../support/wallet.ts';
import { ask, type Developer, newDeveloper } from '../support/whole-world.ts';

const WITHIN_MS = 2_000;
const MEMBERS = '/v1/developer/team/members';
const INVITES = '/v1/developer/team/invites';

type Headers = Readonly<Record<string, string>>;

let place: ProcessPlace;
let sql: Sql;
/** Process that the member's programs ask, and process where the owner changes the team. */
let serving: ServerProcess;
let managing: ServerProcess;
let owner: Developer;
let accountId: string;
/** Mails that the processes have sent, by their recipient. */
const mails = new Map<string, string>();
const mailServer = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, { envelope }, done) {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => {
      mails.set(envelope.rcptTo[0]?.address ?? '', Buffer.concat(parts).toString());
      done();
    });
  },
});
beforeAll(async () => {
  mailServer.listen(0, '127.0.0.1');
  await once(mailServer.server, 'listening');
  const { port } = mailServer.server.address() as AddressInfo;
  place = await processPlace();
  if (place.target.kind !== 'url') throw new Error('two processes need a PostgreSQL by URL');
  sql = openSql(place.target, 2);
  const mail = { MAIL_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'team@example.com' };
  serving = await startServerProcess(place.environment);
  managing = await startServerProcess({ ...place.environment, ...mail });
  owner = await newDeveloper(createApi(managing.url), 'owner of a team');
  accountId = await profileOf(managing, owner.headers).then(({ body }) => body.accountId);
});
afterAll(async () => {
  const codes = await Promise.all([serving.stop(), managing.stop()]);
  await sql.end();
  await new Promise<void>((resolve) => mailServer.close(() => resolve()));
  await place[Symbol.asyncDispose]();
  expect(codes).toEqual([0, 0]);
});

async function profileOf({ url }: ServerProcess, headers: Headers) {
  const { status, body } = await ask(`${url}/v1/developer/profile`, { headers });
  const developer = (body.developer ?? {}) as { accountId?: string; role?: string };
  return { status, body: { accountId: developer.accountId ?? '', role: developer.role } };
}

/** A session of the named wallet, made at the serving process. */
async function sessionOf(name: string): Promise<Headers> {
  const answer = await ask(`${serving.url}/v1/developer/auth/verify`, {
    method: 'POST',
    headers: await testWallet(name).headers(Date.now()),
  });
  const token = /svc_session=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
  return { authorization: `Bearer ${token}` };
}

/** Invites an address, and returns the token of the mail. */
async function tokenFor(email: string, role: string): Promise<string> {
  const body = { email, role };
  const invited = await ask(managing.url + INVITES, { headers: owner.headers, body });
  expect([invited.status, invited.body.delivery]).toEqual([200, 'mailed']);
  const quoted = (mails.get(email) ?? '').replaceAll('=\r\n', '');
  return /inv_[0-9a-f]{64}/.exec(quoted)?.[0] ?? '';
}

async function join(name: string, role: string): Promise<void> {
  const token = await tokenFor(`${name}@example.com`, role);
  const accepted = await ask(`${serving.url}${INVITES}/accept`, {
    headers: await testWallet(name).headers(Date.now()),
    body: { token },
  });
  expect(accepted.status).toBe(200);
}

/** Asks until the answer is not 200. Fails when that takes longer than two seconds. */
async function refusedWithin(asking: () => Promise<{ readonly status: number }>): Promise<number> {
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    const { status } = await asking();
    if (status !== 200 || performance.now() > deadline) return status;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('a team on two processes', () => {
  it('a member who is removed in one process loses keys and session in the other within two seconds, and the owner loses nothing', async () => {
    await join('leaver', 'admin');
    const session = await sessionOf('leaver');
    const selecting = { ...session, 'x-svc-account': accountId };
    const made = await ask(`${serving.url}/v1/developer/keys`, {
      headers: selecting,
      body: { permissions: 'read_write' },
    });
    const key = { authorization: `Bearer ${made.body.key}` };
    const agentId = await owner.createAgent('shared');
    const minted = await ask(`${serving.url}/v1/developer/agents/${agentId}/keys`, {
      method: 'POST',
      headers: key,
    });
    const agentKey = { authorization: `Bearer ${minted.body.key}` };
    const owners = await owner.mintKey(agentId);
    const balance = (headers: Headers) => ask(`${serving.url}/v1/agents/balance`, { headers });
    // The serving process has seen both keys of the agent: they are cached there now.
    for (const headers of [agentKey, { authorization: `Bearer ${owners.key}` }]) {
      expect((await balance(headers)).status).toBe(200);
    }
    expect((await profileOf(serving, key)).body).toMatchObject({ role: 'admin', accountId });

    const wallet = testWallet('leaver').address;
    const removed = await ask(`${managing.url}${MEMBERS}/${wallet}`, {
      method: 'DELETE',
      headers: owner.headers,
    });
    expect(removed.body).toEqual({ ok: true, memberWallet: wallet, revokedKeys: 2 });
    const refused = await Promise.all([
      refusedWithin(() => balance(agentKey)),
      refusedWithin(() => profileOf(serving, key)),
      refusedWithin(() => profileOf(serving, selecting)),
    ]);
    expect(refused).toEqual([401, 401, 403]);
    expect((await balance({ authorization: `Bearer ${owners.key}` })).status).toBe(200);
    expect((await profileOf(serving, session)).body.role).toBe('owner');
  });

  it('a member who signs out everywhere in one process has no session in the other, and the sessions of the owner stay', async () => {
    await join('signs-out', 'viewer');
    const member = { ...(await sessionOf('signs-out')), 'x-svc-account': accountId };
    const ownSession = await sessionOf('owner of a team');
    const out = await ask(`${managing.url}/v1/developer/auth/logout`, {
      headers: member,
      body: { everywhere: true },
    });
    expect(out.body).toEqual({ loggedOut: true, everywhere: true });
    expect(await refusedWithin(() => profileOf(serving, member))).toBe(401);
    expect((await profileOf(serving, ownSession)).status).toBe(200);
    const again = { ...(await sessionOf('signs-out')), 'x-svc-account': accountId };
    expect((await profileOf(serving, again)).body.role).toBe('viewer');
  });

  it('one token that is accepted at both processes at once makes one member', async () => {
    const wallets = Array.from({ length: 6 }, (_, n) => testWallet(`racer ${n}`));
    const token = await tokenFor('racers@example.com', 'member');
    const answers = await Promise.all(
      wallets.map(async (wallet, n) =>
        ask(`${(n % 2 ? serving : managing).url}${INVITES}/accept`, {
          headers: await wallet.headers(Date.now()),
          body: { token },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410, 410, 410]);
    const rows = await sql`select 1 from members where email = 'racers@example.com'`;
    expect(rows).toHaveLength(1);
  });
});
