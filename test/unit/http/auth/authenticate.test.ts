import { describe, expect, it } from 'vitest';
import type { Right, Role } from '../../../../src/accounts/developers/role.ts';
import { createAuthenticate, type Demand } from '../../../../src/http/auth/authenticate.ts';
import type { Credential } from '../../../../src/http/route/caller.ts';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { SignInNetworks } from '../../../../src/rate-limit/sign-in-networks.ts';
import { bearer, fakeCredentials, KEYS } from '../../../support/edge.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { strangersOf } from '../../../support/strangers.ts';

const authenticate = createAuthenticate({
  credentials: fakeCredentials,
  strangers: strangersOf(),
  signIns: new SignInNetworks(),
  clock: new ManualClock(),
  secureCookies: true,
});

const asking = (headers: Record<string, string>, method = 'GET') => ({
  route: {},
  clientAddress: () => '203.0.113.1',
  request: { method, headers: new Map(Object.entries(headers)) },
});

async function outcome(
  credential: Credential,
  headers: Record<string, string>,
  change: Partial<Demand> & { method?: string } = {},
): Promise<string> {
  const { method = 'GET', permission = 'read', admitsClosed = false, keyHeader } = change;
  try {
    const { caller } = await authenticate(
      { credential, permission, admitsClosed, keyHeader },
      asking(headers, method),
    );
    return caller.kind === 'developer' ? caller.via : caller.kind;
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown;
    return `${thrown.status} ${thrown.error}`;
  }
}

const signed = { 'x-wallet-address': '0xaa', 'x-signature': '0xgood', 'x-timestamp': '1' };
const cookie = (token: string) => ({ cookie: `a=b; svc_session=${token}` });

describe('a management route', () => {
  it('a management route takes a developer key, a wallet signature, or a session as Bearer or cookie', async () => {
    expect(await outcome('management', bearer(KEYS.developer))).toBe('developer_key');
    expect(await outcome('management', signed)).toBe('signature');
    expect(await outcome('management', bearer(KEYS.session))).toBe('session');
    expect(await outcome('management', cookie(KEYS.session))).toBe('session');
  });

  it('a management route refuses a missing, wrong or foreign credential with 401 and its own reason', async () => {
    expect(await outcome('management', {})).toBe('401 Unauthorized');
    expect(await outcome('management', { authorization: 'Basic abc' })).toBe('401 Unauthorized');
    expect(await outcome('management', bearer('svc_live_unknown'))).toBe('401 Invalid API key');
    expect(await outcome('management', bearer(KEYS.agent))).toBe(
      '401 developer_credential_required',
    );
    expect(await outcome('management', bearer('sk-of-another-vendor'))).toBe('401 Invalid API key');
    expect(await outcome('management', bearer('no.such.session'))).toBe('401 Invalid JWT');
    expect(await outcome('management', cookie('nonsense'))).toBe('401 Invalid JWT');
    expect(await outcome('management', { ...signed, 'x-signature': '0xbad' })).toBe(
      '401 Invalid signature',
    );
    const { 'x-timestamp': _, ...incomplete } = signed;
    expect(await outcome('management', incomplete)).toBe('401 Unauthorized');
  });

  it('a management route lets a Bearer decide before a signature, and a signature before a cookie', async () => {
    expect(await outcome('management', { ...bearer('svc_live_unknown'), ...signed })).toBe(
      '401 Invalid API key',
    );
    expect(await outcome('management', { ...signed, ...cookie('bad') })).toBe('signature');
  });

  it('a management route lets a read key only read', async () => {
    const readOnly = bearer(KEYS.developerReadOnly);
    expect(await outcome('management', readOnly)).toBe('developer_key');
    expect(await outcome('management', readOnly, { permission: 'read_write' })).toBe(
      '403 read_only_key',
    );
  });
});

describe('the role of a developer', () => {
  it('a management route refuses a role without its right, and a verify route ignores the selected account', async () => {
    const other = 'acct_00000000000b';
    const roles = new Map<string, Role>([[other, 'viewer']]);
    const member = createAuthenticate({
      credentials: { ...fakeCredentials, roleIn: async (accountId) => roles.get(accountId) },
      strangers: strangersOf(),
      signIns: new SignInNetworks(),
      clock: new ManualClock(),
      secureCookies: true,
    });
    const told = async (
      right: Right,
      headers: Record<string, string>,
      credential = 'management',
    ) => {
      const demand = { permission: 'read', admitsClosed: false, right } as const;
      try {
        const asked = { credential: credential as Credential, ...demand };
        const { caller } = await member(asked, asking({ ...signed, ...headers }));
        return caller.kind === 'developer' ? `${caller.accountId} ${caller.role}` : caller.kind;
      } catch (thrown) {
        if (!(thrown instanceof ApiError)) throw thrown;
        return `${thrown.status} ${thrown.error}`;
      }
    };
    const own = 'acct_0123456789ab owner';
    const selecting = { 'x-svc-account': other };
    expect(await told('money_out', {})).toBe(own);
    expect(await told('read', selecting)).toBe(`${other} viewer`);
    for (const right of ['work', 'account', 'team', 'money_out'] as const) {
      expect(await told(right, selecting)).toBe('403 Forbidden');
    }
    expect(await told('self', selecting)).toBe(own);
    expect(await told('work', selecting, 'signature')).toBe(own);
    expect(await told('read', { cookie: `a=b; svc_account=${other}` })).toBe(`${other} viewer`);
    expect(await told('read', { ...selecting, cookie: 'svc_account=acct_1' })).toBe(
      `${other} viewer`,
    );
    expect(await told('read', { 'x-svc-account': 'acct_00000000000c' })).toBe('403 Forbidden');
  });
});

describe('an agent route', () => {
  it('an agent route takes an agent key and nothing else', async () => {
    expect(await outcome('agent', bearer(KEYS.agent))).toBe('agent');
    expect(await outcome('agent', { authorization: `bearer  ${KEYS.agent}` })).toBe('agent');
    for (const other of [
      bearer(KEYS.developer),
      bearer(KEYS.session),
      signed,
      cookie(KEYS.session),
    ]) {
      expect(await outcome('agent', other)).toBe('401 wrong_credential_type');
    }
    const missing = '401 Missing or invalid Authorization header';
    for (const none of [{}, { authorization: 'Basic x' }, bearer('')]) {
      expect(await outcome('agent', none)).toBe(missing);
    }
    for (const key of ['svc_unknown', 'sk-of-another-vendor']) {
      expect(await outcome('agent', bearer(key))).toBe('401 Invalid API key');
    }
  });

  it('an agent route refuses an inactive agent or a read-only key, each with its reason', async () => {
    expect(await outcome('agent', bearer(KEYS.suspended))).toBe('403 agent_suspended');
    expect(await outcome('agent', bearer(KEYS.pending))).toBe('403 agent_not_active');
    expect(await outcome('agent', bearer(KEYS.expired))).toBe('403 delegation_expired');
    expect(await outcome('agent', bearer(KEYS.closed))).toBe('403 account_closed');
    expect(await outcome('agent', bearer(KEYS.closed), { admitsClosed: true })).toBe('agent');
    expect(await outcome('agent', bearer(KEYS.agentReadOnly), { permission: 'read_write' })).toBe(
      '403 read_only_key',
    );
  });
});

describe('the other demands', () => {
  it('a route with credential `any` takes an agent or a developer', async () => {
    expect(await outcome('any', bearer(KEYS.agent))).toBe('agent');
    expect(await outcome('any', bearer(KEYS.developer))).toBe('developer_key');
    expect(await outcome('any', {})).toBe('401 Unauthorized');
    expect(await outcome('any', bearer('sk-of-another-vendor'))).toBe('401 Invalid API key');
  });

  it('a route with credential `signature` takes a fresh signature only, never a key or a session', async () => {
    expect(await outcome('signature', signed)).toBe('signature');
    for (const other of [bearer(KEYS.developer), bearer(KEYS.agent), cookie(KEYS.session), {}]) {
      expect(await outcome('signature', other)).toBe('401 Unauthorized');
    }
  });

  it('a route with credential `admin` takes the admin key in either place', async () => {
    expect(await outcome('admin', { 'x-admin-key': KEYS.admin })).toBe('admin');
    expect(await outcome('admin', bearer(KEYS.admin))).toBe('admin');
    expect(await outcome('admin', bearer(KEYS.developer))).toBe('401 Unauthorized');
    expect(await outcome('admin', { 'x-admin-key': 'wrong', ...bearer(KEYS.admin) })).toBe(
      '401 Unauthorized',
    );
  });

  it('a route with credential `none` looks at no credential at all', async () => {
    expect(await outcome('none', bearer('svc_unknown'))).toBe('none');
  });
});

describe('a session cookie', () => {
  it('a session cookie is renewed with Secure where that is on, and never for a Bearer', async () => {
    const ask = (headers: Record<string, string>) =>
      authenticate(
        { credential: 'management', permission: 'read', admitsClosed: false },
        asking(headers),
      );
    expect((await ask(cookie(KEYS.ageingSession))).setCookie).toMatch(
      /^svc_session=new\.body\.tail; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure$/,
    );
    expect((await ask(bearer(KEYS.ageingSession))).setCookie).toBeUndefined();
  });

  it('a session cookie cannot write from another or an invalid origin', async () => {
    const write = (origin: string) =>
      outcome(
        'management',
        { ...cookie(KEYS.session), origin, host: 'api.example' },
        { method: 'POST', permission: 'read_write' },
      );
    expect(await write('https://api.example')).toBe('session');
    expect(await write('https://api.example.evil')).toBe('403 forbidden');
    expect(await write('null')).toBe('403 forbidden');
  });
});

describe('a key in x-api-key', () => {
  const key = (value: string) => ({ 'x-api-key': value });
  const keyHeader = 'x-api-key';

  it('a key in x-api-key counts before a Bearer, and only on routes that allow the header', async () => {
    expect(await outcome('agent', key(KEYS.agent), { keyHeader })).toBe('agent');
    expect(await outcome('agent', { ...key(KEYS.agent), ...bearer('other') }, { keyHeader })).toBe(
      'agent',
    );
    expect(await outcome('agent', key(KEYS.agent))).toMatch(/^401 /);
    expect(await outcome('management', key(KEYS.developer))).toBe('401 Unauthorized');
  });

  it('a key in x-api-key is refused like a Bearer when it is unknown or of another kind', async () => {
    expect(await outcome('agent', key('sk-ant-x'), { keyHeader })).toBe('401 Invalid API key');
    expect(await outcome('agent', key(KEYS.developer), { keyHeader })).toBe(
      '401 wrong_credential_type',
    );
    expect(await outcome('agent', { ...key(' '), ...bearer(KEYS.agent) }, { keyHeader })).toBe(
      'agent',
    );
  });
});
