import { describe, expect, it } from 'vitest';
import type { Mail } from '../../../src/platform/mail/mailer.ts';
import { accountsWorld } from '../../support/accounts.ts';
import { accountsEdge, PREPAID } from '../../support/accounts-edge.ts';
import { bearer } from '../../support/edge.ts';
import { logLines } from '../../support/log-lines.ts';
import { addressOf, INVITES, MEMBERS, refusal, useTeams } from '../../support/team-world.ts';

const { used, ask, signed, invite, accept, sessionOf, accountOf } = useTeams();

type Headers = Readonly<Record<string, string>>;

describe('the team of an account', () => {
  it('a member who accepts an invite reads and changes the account that X-Svc-Account or the cookie selects, and the own account otherwise', async () => {
    const account = await accountOf('shapes');
    const { body: invited } = await invite(account.headers, 'Ann@Example.com', 'member');
    expect(invited).toEqual({
      invite: {
        id: expect.any(Number),
        email: 'ann@example.com',
        role: 'member',
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
      },
      delivery: 'shown',
      message: expect.any(String),
      token: expect.stringMatching(/^inv_[0-9a-f]{64}$/),
      link: null,
    });
    const { createdAt, expiresAt } = invited.invite;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * 86_400_000);
    const listed = await ask('GET', INVITES, { headers: account.headers });
    expect(listed.body).toEqual({
      invites: [{ ...invited.invite, invitedBy: addressOf('shapes') }],
    });
    const stored = JSON.stringify(await used.sql`select * from invites`);
    expect(stored).not.toContain(invited.token);
    expect(stored).not.toContain(invited.token.slice(4));

    expect((await accept('ann', invited.token)).body).toEqual({
      ok: true,
      accountWallet: addressOf('shapes'),
      accountId: account.accountId,
      role: 'member',
    });
    const ann = await sessionOf('ann');
    const selecting = { ...ann, ...account.selecting };
    const { body: members } = await ask('GET', MEMBERS, { headers: selecting });
    expect(members).toEqual({
      role: 'member',
      members: [
        {
          memberWallet: addressOf('shapes'),
          role: 'owner',
          displayName: null,
          email: null,
          invitedBy: null,
          createdAt: expect.any(String),
          isSelf: false,
        },
        {
          memberWallet: addressOf('ann'),
          role: 'member',
          displayName: null,
          email: 'ann@example.com',
          invitedBy: addressOf('shapes'),
          createdAt: expect.any(String),
          isSelf: true,
        },
      ],
    });

    const created = await ask('POST', '/v1/developer/agents', {
      headers: selecting,
      body: PREPAID,
    });
    expect(created.status).toBe(201);
    const byCookie = { ...ann, cookie: `svc_account=${account.accountId}` };
    for (const headers of [selecting, byCookie, account.headers]) {
      const { body } = await ask('GET', '/v1/developer/profile', { headers });
      const { agents, developer, walletAddress } = body;
      expect(developer).toMatchObject({ accountId: account.accountId, walletAddress });
      expect([walletAddress, developer.role]).toEqual([
        addressOf('shapes'),
        headers === account.headers ? 'owner' : 'member',
      ]);
      expect(agents.map((agent: { id: number }) => agent.id)).toEqual([created.body.agentId]);
      const balances = await ask('GET', '/v1/developer/balances', { headers });
      expect(balances.body).toMatchObject({ developerWalletBalanceRaw: '0' });
    }
    const { body: own } = await ask('GET', '/v1/developer/profile', { headers: ann });
    expect([own.walletAddress, own.developer.role, own.agents]).toEqual([
      addressOf('ann'),
      'owner',
      [],
    ]);
    const path = `/v1/developer/agents/${created.body.agentId}`;
    expect((await ask('GET', path, { headers: ann })).status).toBe(404);
    expect((await ask('GET', path, { headers: selecting })).status).toBe(200);
  });

  it('an account that is unknown, foreign or malformed in X-Svc-Account is refused, and a developer key acts for its own alone', async () => {
    const account = await accountOf('selected');
    const other = await accountOf('not selected');
    const session = await sessionOf('selected');
    const wrong = ['acct_000000000000', other.accountId, 'acct_', "acct_1' or 1=1", '*', '0'];
    for (const id of wrong) {
      for (const headers of [
        { ...session, 'x-svc-account': id },
        { ...session, cookie: `svc_account=${id}` },
        { ...account.headers, 'x-svc-account': id },
      ]) {
        const told = await ask('GET', '/v1/developer/profile', { headers });
        expect([id, ...refusal(told)]).toEqual([id, 403, 'Forbidden']);
      }
    }
    const cookie = { ...account.headers, cookie: `svc_account=${other.accountId}` };
    expect((await ask('GET', '/v1/developer/profile', { headers: cookie })).status).toBe(200);
    const same = { ...account.headers, ...account.selecting };
    expect((await ask('GET', '/v1/developer/profile', { headers: same })).status).toBe(200);

    const verify = await ask('POST', '/v1/developer/auth/verify', {
      headers: { ...(await signed('selected')), ...other.selecting, cookie: 'svc_account=acct_1' },
    });
    expect([verify.status, verify.body.developer.accountId]).toEqual([200, account.accountId]);
    expect(verify.headers.getSetCookie().join()).toContain('svc_account=; Path=/');
  });

  it('the keys of a member have the role of the member at any time, and end with the membership', async () => {
    const account = await accountOf('key owner');
    const admin = await account.join('key admin', 'admin');
    const path = `${MEMBERS}/${addressOf('key admin')}`;
    const made = await ask('POST', '/v1/developer/keys', {
      headers: admin,
      body: { permissions: 'read_write' },
    });
    const key = bearer(made.body.key);
    const role = async () =>
      (await ask('GET', '/v1/developer/profile', { headers: key })).body.developer?.role;
    expect(await role()).toBe('admin');
    const agent = await ask('POST', '/v1/developer/agents', { headers: key, body: PREPAID });
    const keys = `/v1/developer/agents/${agent.body.agentId}/keys`;
    const mint = (headers: Headers) => ask('POST', keys, { headers, body: { budgetRaw: '5' } });
    const mine = bearer((await mint(key)).body.key);
    const owners = await mint(account.headers);
    const works = async (headers: Headers) =>
      (await ask('GET', '/v1/agents/balance', { headers })).status;
    expect([await works(mine), await works(bearer(owners.body.key))]).toEqual([200, 200]);

    // The admin's successor of the owner's key is a key of the admin.
    const heir = await ask('POST', `${keys}/${owners.body.id}/rotate`, { headers: key });
    expect(heir.status).toBe(201);

    const set = (wanted: string) =>
      ask('PATCH', path, { headers: account.headers, body: { role: wanted } });
    expect((await set('member')).body).toEqual({
      ok: true,
      memberWallet: addressOf('key admin'),
      role: 'member',
      revokedKeys: 0,
    });
    expect([await role(), await works(mine)]).toEqual(['member', 200]);
    const forbidden = await ask('POST', '/v1/developer/keys', { headers: key });
    expect(refusal(forbidden)).toEqual([403, 'Forbidden']);
    // A viewer may not have agent keys, and so loses them.
    expect((await set('viewer')).body).toMatchObject({ role: 'viewer', revokedKeys: 2 });
    expect([await role(), await works(mine), await works(bearer(heir.body.key))]).toEqual([
      'viewer',
      401,
      401,
    ]);
    expect(refusal(await mint(key))).toEqual([403, 'Forbidden']);

    const left = await ask('DELETE', path, { headers: admin });
    expect(left.body).toEqual({ ok: true, memberWallet: addressOf('key admin'), revokedKeys: 1 });
    expect((await ask('GET', '/v1/developer/profile', { headers: key })).status).toBe(401);
    expect(refusal(await ask('GET', MEMBERS, { headers: admin }))).toEqual([403, 'Forbidden']);
    const listed = await ask('GET', '/v1/developer/keys', { headers: account.headers });
    expect(listed.body.keys).toHaveLength(1);
  });

  it('a member who is removed while the request for a key is under way gets no key', async () => {
    const account = await accountOf('racing owner');
    const agent = await ask('POST', '/v1/developer/agents', {
      headers: account.headers,
      body: PREPAID,
    });
    for (let round = 0; round < 8; round++) {
      const name = `racing member ${round}`;
      const member = await account.join(name, 'admin');
      const requests = [
        ask('POST', `/v1/developer/agents/${agent.body.agentId}/keys`, { headers: member }),
        ask('POST', '/v1/developer/keys', { headers: member }),
        ask('DELETE', `${MEMBERS}/${addressOf(name)}`, { headers: account.headers }),
      ];
      const [minted, issued, removed] = await Promise.all(requests);
      expect(removed?.status).toBe(200);
      expect([201, 403]).toContain(minted?.status);
      expect([201, 403]).toContain(issued?.status);
      const living = await used.sql`
        select 1 from agent_keys where created_by = ${addressOf(name)} and revoked_at is null
        union all
        select 1 from developer_keys where created_by = ${addressOf(name)} and revoked_at is null`;
      expect(living).toHaveLength(0);
    }
  });

  it('a removed or demoted admin leaves no open invite behind, and co-owners are made and changed by owners alone', async () => {
    const account = await accountOf('first owner');
    const admin = await account.join('inviting admin', 'admin');
    const left = await invite(admin, 'back-door@example.com', 'admin');
    const path = `${MEMBERS}/${addressOf('inviting admin')}`;
    const { headers } = account;
    await ask('PATCH', path, { headers, body: { role: 'member' } });
    expect(refusal(await accept('back door', left.body.token))).toEqual([410, 'invite_gone']);

    const sender = await account.join('resending admin', 'admin');
    const resent = await invite(headers, 'side-door@example.com', 'admin');
    const again = await ask('POST', `${INVITES}/${resent.body.invite.id}/resend`, {
      headers: sender,
    });
    await ask('DELETE', `${MEMBERS}/${addressOf('resending admin')}`, { headers });
    expect(refusal(await accept('resending admin', again.body.token))).toEqual([
      410,
      'invite_gone',
    ]);

    const owner = await account.join('second owner', 'admin');
    const second = `${MEMBERS}/${addressOf('second owner')}`;
    expect((await ask('PATCH', second, { headers, body: { role: 'owner' } })).status).toBe(200);
    const third = await account.join('mere admin', 'admin');
    expect(refusal(await ask('DELETE', second, { headers: third }))).toEqual([403, 'Forbidden']);
    const first = `${MEMBERS}/${addressOf('first owner')}`;
    expect(refusal(await ask('DELETE', first, { headers: owner }))).toEqual([409, 'last_owner']);
    expect((await ask('DELETE', second, { headers: owner })).status).toBe(200);
  });
});

describe('invites by mail', () => {
  it('an invite is mailed after its commit, a mail that fails leaves an invite to be sent again, and no log has an address or a token', async () => {
    const { log, lines } = logLines();
    const mails: Mail[] = [];
    let outcome: 'sent' | 'failed' = 'sent';
    const mailer = {
      async send(mail: Mail) {
        mails.push(mail);
        const reason = 'the mail server refused the mail';
        return outcome === 'sent'
          ? ({ kind: 'sent' } as const)
          : ({ kind: 'failed', reason, status: 550 } as const);
      },
    };
    const world = accountsWorld(used.sql, { mailer, log, clock: used.world.clock });
    const edge = await accountsEdge(world);
    const headers = await edge.developer('mailing');
    const create = (email: string) =>
      edge.ask('POST', INVITES, { headers, body: { email, role: 'viewer' } });
    const mailed = await create('by-mail@example.com');
    expect(mailed.body).toMatchObject({ delivery: 'mailed', invite: { role: 'viewer' } });
    expect(JSON.stringify(mailed.body)).not.toContain('inv_');
    const token = /inv_[0-9a-f]{64}/.exec(mails[0]?.text ?? '')?.[0] ?? '';
    expect(mails[0]?.to).toBe('by-mail@example.com');

    outcome = 'failed';
    const failed = await create('failing@example.com');
    expect([failed.status, failed.body.delivery]).toEqual([200, 'failed']);
    expect(failed.body.message).toContain('the mail server refused the mail');
    const lost = /inv_[0-9a-f]{64}/.exec(mails[1]?.text ?? '')?.[0] ?? '';
    outcome = 'sent';
    const path = `${INVITES}/${failed.body.invite.id}/resend`;
    expect((await edge.ask('POST', path, { headers })).body.delivery).toBe('mailed');
    expect(refusal(await accept('mailed', lost))).toEqual([404, 'invite_not_found']);
    expect((await accept('mailed', token)).status).toBe(200);
    const logged = JSON.stringify(lines);
    expect(logged).toContain('an invite was not mailed');
    expect(logged).not.toMatch(/inv_|example\.com/);
    await edge[Symbol.asyncDispose]();
  });
});

describe('the account itself', () => {
  it('the name of an account is changed by its owners and admins, and shown in its profile', async () => {
    const account = await accountOf('named');
    const admin = await account.join('naming', 'admin');
    const changed = await ask('PATCH', '/v1/developer/me', {
      headers: admin,
      body: { displayName: '  Voice lab  ', other: 1 },
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        developer: {
          walletAddress: addressOf('named'),
          displayName: 'Voice lab',
          accountId: account.accountId,
        },
      },
    ]);
    const { body } = await ask('GET', '/v1/developer/profile', { headers: account.headers });
    expect([body.displayName, body.developer.displayName]).toEqual(['Voice lab', 'Voice lab']);
  });

  it('the profile says when a tool for AI clients first acted for the account, and never changes it', async () => {
    const account = await accountOf('with tools');
    const seen = async (agent?: string) => {
      const headers = { ...account.headers, ...(agent && { 'user-agent': agent }) };
      const { body } = await ask('GET', '/v1/developer/profile', { headers });
      return body.developer.aiToolConnectedAt;
    };
    expect(await seen()).toBeNull();
    expect(await seen('curl/8')).toBeNull();
    const at = new Date(used.world.clock.now()).toISOString();
    expect(await seen('svc-mcp/1.2.3')).toBe(at);
    used.world.clock.advance(60_000);
    expect(await seen('svc-cli/1.2.3')).toBe(at);
    const elsewhere = accountsWorld(used.sql, { clock: used.world.clock });
    elsewhere.aiTools.see(account.accountId);
    await elsewhere.aiTools.flush();
    expect(await seen()).toBe(at);
  });
});
