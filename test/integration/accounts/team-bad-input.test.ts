import { describe, expect, it } from 'vitest';
import { ACCOUNT_LIMITS } from '../../../src/accounts/limits.ts';
import { addressOf, INVITES, MEMBERS, refusal, useTeams } from '../../support/team-world.ts';

const { used, ask, invite, accept, accountOf } = useTeams();

type Headers = Readonly<Record<string, string>>;

describe('requests about a team that are refused', () => {
  it('every malformed invite, member, role and name is refused with a code, and changes nothing', async () => {
    const account = await accountOf('bad input');
    const viewer = await account.join('bad viewer', 'viewer');
    const admin = await account.join('bad admin', 'admin');
    const self = addressOf('bad input');
    used.world.clock.advance(60_000);
    const before =
      await used.sql`select (select count(*) from invites), (select count(*) from members)`;
    const member = (wallet: string) => `${MEMBERS}/${wallet}`;
    const [owner, body] = [account.headers, { email: 'a@example.com', role: 'member' }];
    const long = `${'a'.repeat(250)}@example.com`;
    const invalid = [400, 'Invalid request'];
    const cases: [string, string, Headers, unknown, unknown[]][] = [
      ['POST', INVITES, owner, undefined, invalid],
      ['POST', INVITES, owner, { email: 'a@example.com' }, invalid],
      ['POST', INVITES, owner, { ...body, role: 'owner' }, invalid],
      ['POST', INVITES, owner, { ...body, role: 'Admin' }, invalid],
      ...[
        'a',
        'a@b',
        '@example.com',
        'a@example.com, b@example.com',
        'Ann <a@example.com>',
        'a@example.com\r\nBcc: b@example.com',
        'a@example.com\nb',
        'a b@example.com',
        '"a b"@example.com',
        'a..b@example.com',
        'ä@example.com',
        'a@exa_mple.com',
        'a@[127.0.0.1]',
        'a@127.0.0.1',
        'a\0@example.com',
        long,
        7,
        null,
      ].map((email): [string, string, Headers, unknown, unknown[]] => [
        'POST',
        INVITES,
        owner,
        { email, role: 'member' },
        invalid,
      ]),
      ['POST', INVITES, viewer, body, [403, 'Forbidden']],
      ['POST', INVITES, admin, { ...body, email: 'bad admin@example.com' }, invalid],
      ['POST', `${INVITES}/accept`, viewer, {}, invalid],
      ['POST', `${INVITES}/accept`, viewer, { token: '' }, invalid],
      ['POST', `${INVITES}/accept`, viewer, { token: 'x'.repeat(129) }, invalid],
      ['POST', `${INVITES}/accept`, viewer, { token: 'nonsense' }, [404, 'invite_not_found']],
      ['POST', `${INVITES}/accept`, owner, { token: 'inv_1' }, [403, 'wallet_required']],
      ['POST', `${INVITES}/999999/resend`, owner, undefined, [404, 'invite_not_found']],
      ['DELETE', `${INVITES}/999999`, owner, undefined, [404, 'invite_not_found']],
      ['DELETE', `${INVITES}/99999999999999`, owner, undefined, [404, 'invite_not_found']],
      ['DELETE', `${INVITES}/abc`, owner, undefined, invalid],
      ['PATCH', member('0x12'), owner, { role: 'viewer' }, invalid],
      ['PATCH', member(`${self}0`), owner, { role: 'viewer' }, invalid],
      ['PATCH', member(addressOf('nobody')), owner, { role: 'viewer' }, [404, 'member_not_found']],
      ['PATCH', member(addressOf('bad viewer')), owner, { role: 'boss' }, invalid],
      ['PATCH', member(addressOf('bad viewer')), owner, {}, invalid],
      ['PATCH', member(addressOf('bad viewer')), viewer, { role: 'admin' }, [403, 'Forbidden']],
      ['PATCH', member(addressOf('bad viewer')), admin, { role: 'owner' }, [403, 'Forbidden']],
      ['PATCH', member(self), admin, { role: 'viewer' }, [403, 'Forbidden']],
      ['PATCH', member(self), owner, { role: 'viewer' }, [409, 'last_owner']],
      ['DELETE', member(self), owner, undefined, [409, 'last_owner']],
      ['DELETE', member(self), admin, undefined, [403, 'Forbidden']],
      ['DELETE', member(addressOf('bad admin')), viewer, undefined, [403, 'Forbidden']],
      ['DELETE', member(addressOf('nobody')), owner, undefined, [404, 'member_not_found']],
      ['DELETE', member('nobody'), owner, undefined, invalid],
      ['PATCH', '/v1/developer/me', owner, {}, invalid],
      ['PATCH', '/v1/developer/me', owner, { displayName: '  ' }, invalid],
      ['PATCH', '/v1/developer/me', owner, { displayName: 'a'.repeat(101) }, invalid],
      ['PATCH', '/v1/developer/me', owner, { displayName: 'a\0b' }, invalid],
      ['PATCH', '/v1/developer/me', owner, { displayName: 'a\nb' }, invalid],
      ['PATCH', '/v1/developer/me', owner, { displayName: 7 }, invalid],
      ['PATCH', '/v1/developer/me', viewer, { displayName: 'mine' }, [403, 'Forbidden']],
    ];
    for (const [method, path, headers, sent, wanted] of cases) {
      const how = sent === undefined ? { headers } : { headers, body: sent };
      const told = await ask(method, path, how);
      expect([method, path, sent, ...refusal(told)]).toEqual([method, path, sent, ...wanted]);
      expect(told.body.message.length).toBeGreaterThan(0);
      if (method === 'POST' && path === INVITES) used.world.clock.advance(6_000);
    }
    const after =
      await used.sql`select (select count(*) from invites), (select count(*) from members)`;
    expect(after).toEqual(before);
  });

  it('a token works once, before it expires, and not after its invite was deleted or sent again', async () => {
    const account = await accountOf('tokens');
    const { headers } = account;
    const made = async (email: string) => (await invite(headers, email)).body;
    const [first, resent, deleted, expired] = [
      await made('first@example.com'),
      await made('resent@example.com'),
      await made('deleted@example.com'),
      await made('expired@example.com'),
    ];
    expect(refusal(await accept('tokens', first.token))).toEqual([409, 'already_member']);
    expect((await accept('first', first.token)).status).toBe(200);
    expect(refusal(await accept('second', first.token))).toEqual([410, 'invite_gone']);
    expect(refusal(await accept('first', first.token))).toEqual([410, 'invite_gone']);
    expect(refusal(await accept('first', resent.token))).toEqual([409, 'already_member']);

    const again = await ask('POST', `${INVITES}/${resent.invite.id}/resend`, { headers });
    expect([again.status, again.body.invite.id]).toEqual([200, resent.invite.id]);
    expect(refusal(await accept('second', resent.token))).toEqual([404, 'invite_not_found']);

    const removed = await ask('DELETE', `${INVITES}/${deleted.invite.id}`, { headers });
    expect([removed.status, removed.body]).toEqual([200, { ok: true }]);
    expect(refusal(await accept('second', deleted.token))).toEqual([410, 'invite_gone']);
    const gone = await ask('DELETE', `${INVITES}/${deleted.invite.id}`, { headers });
    expect(refusal(gone)).toEqual([404, 'invite_not_found']);

    const stranger = await accountOf('stranger to tokens');
    const foreign = `${INVITES}/${again.body.invite.id}`;
    expect(refusal(await ask('DELETE', foreign, stranger))).toEqual([404, 'invite_not_found']);
    expect(refusal(await ask('POST', `${foreign}/resend`, stranger))).toEqual([
      404,
      'invite_not_found',
    ]);

    used.world.clock.advance(ACCOUNT_LIMITS.team.inviteMs);
    expect(refusal(await accept('second', expired.token))).toEqual([410, 'invite_gone']);
    expect((await ask('GET', INVITES, { headers })).body).toEqual({ invites: [] });
    // An expired invite neither keeps its address nor a seat.
    expect((await invite(headers, 'expired@example.com')).status).toBe(200);
    expect(refusal(await accept('second', expired.token))).toEqual([410, 'invite_gone']);
  });

  it('an account has ten seats, one invite for an address, and no invite for a member or for oneself', async () => {
    const account = await accountOf('seats');
    const admin = await account.join('seated', 'admin');
    const own = await invite(admin, 'SEATED@example.com');
    expect(refusal(own)).toEqual([400, 'self_invite']);
    expect(refusal(await invite(account.headers, 'seated@example.com'))).toEqual([
      409,
      'already_member',
    ]);
    const tokens: string[] = [];
    for (let n = 3; n <= 10; n++) {
      used.world.clock.advance(60_000);
      const made = await invite(account.headers, `seat${n}@example.com`);
      expect([n, made.status]).toEqual([n, 200]);
      tokens.push(made.body.token);
    }
    const twice = await invite(account.headers, 'Seat3@example.com');
    expect(refusal(twice)).toEqual([409, 'already_invited']);
    used.world.clock.advance(60_000);
    const racing = Array.from({ length: 5 }, (_, n) =>
      invite(account.headers, `more${n}@example.com`),
    );
    for (const told of await Promise.all(racing))
      expect(refusal(told)).toEqual([409, 'seats_full']);

    const [token = ''] = tokens;
    const racers = await Promise.all([0, 1, 2, 3].map((n) => accept(`racer ${n}`, token)));
    expect(racers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410]);
    for (const [n, other] of tokens.slice(1).entries()) {
      expect((await accept(`seat taker ${n}`, other)).status).toBe(200);
    }
    const { body } = await ask('GET', MEMBERS, { headers: account.headers });
    expect(body.members).toHaveLength(10);
  });

  it('an account sends ten invites a minute, and one address gets five a day from all accounts together', async () => {
    const account = await accountOf('sending');
    const { headers } = account;
    used.world.clock.advance(60_000);
    const made = await invite(headers, 'often@example.com');
    const again = () => ask('POST', `${INVITES}/${made.body.invite.id}/resend`, { headers });
    for (let sent = 2; sent <= 5; sent++) expect((await again()).status).toBe(200);
    const sixth = await again();
    expect([...refusal(sixth), sixth.headers.get('retry-after')]).toEqual([
      429,
      'invite_limit',
      '3600',
    ]);
    const other = await accountOf('sending, too');
    expect(refusal(await invite(other.headers, 'often@example.com'))).toEqual([
      429,
      'invite_limit',
    ]);
    for (let sent = 7; sent <= 10; sent++) await again();
    expect(refusal(await again())).toEqual([429, 'rate_limit_exceeded']);
    used.world.clock.advance(86_400_000);
    expect((await again()).status).toBe(200);
  });
});
