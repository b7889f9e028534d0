import { describe, expect, it } from 'vitest';
import { SPEND_LIMITS } from '../../../src/spend/limits.ts';
import { useControls } from '../../support/controls-world.ts';

const controls = useControls();

const soon = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;
const TASK = { kind: 'task', matchKey: 'Task-1', limitRaw: '1000' };
const VENDOR = `0x${'Ab'.repeat(20)}`;

/** The three places where policies are made, with what each adds to a row. */
async function planes() {
  const made = await controls.on.agent();
  const { headers, key, path, agentId } = made;
  const own = { scope: 'agent', agentId };
  return {
    made,
    planes: [
      { name: 'agent', base: '/v1/agents/policies', headers: key, row: own },
      { name: 'operator', base: `${path}/policies`, headers, row: own },
      { name: 'team', base: '/v1/developer/policies', headers, row: { scope: 'developer' } },
    ],
  };
}

const ROW = {
  matchKind: null,
  limitFloorRaw: null,
  limitCeilingRaw: null,
  windowKind: 'rolling',
  windowSeconds: 86_400,
  calendarUnit: null,
  expiresAt: null,
  effectiveFrom: null,
  effectiveUntil: null,
  action: 'block',
  status: 'active',
  label: null,
  qualityThrottleFloorBps: null,
  qualityWindowSeconds: null,
  reserves: false,
};

describe('policies of an agent and of a team', () => {
  it('policies are created, listed, changed, reset and revoked by agent and developer routes', async () => {
    const { ask } = controls.on;
    for (const { name, base, headers, row } of (await planes()).planes) {
      const body = { ...TASK, matchKey: `Task-${name}` };
      const made = await ask('POST', base, { headers, body });
      const policy = {
        id: expect.any(Number),
        kind: 'task',
        matchKey: `task-${name}`,
        limitRaw: '1000',
        ...ROW,
        ...row,
        spentRaw: '0',
        remainingRaw: '1000',
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      };
      expect([made.status, made.body], name).toEqual([201, { policy }]);
      const { id } = made.body.policy;
      expect((await ask('GET', base, { headers })).body.policies).toContainEqual(made.body.policy);

      const edit = { limitRaw: '500', label: 'ünï', action: 'suspend_agent', windowSeconds: 3_600 };
      const changed = await ask('PATCH', `${base}/${id}`, { headers, body: edit });
      expect([changed.status, changed.body.policy]).toEqual([
        200,
        { ...made.body.policy, ...edit, remainingRaw: '500' },
      ]);
      const reset = await ask('POST', `${base}/${id}/reset`, { headers });
      if (name === 'team') expect(reset.status).toBe(404);
      else expect([reset.status, reset.body]).toEqual([200, changed.body]);

      const revoked = await ask('DELETE', `${base}/${id}`, { headers });
      expect([revoked.status, revoked.body]).toEqual([200, { status: 'revoked' }]);
      for (const [method, at] of [
        ['DELETE', ''],
        ['PATCH', ''],
      ] as const) {
        const again = await ask(method, `${base}/${id}${at}`, { headers, body: {} });
        expect([again.status, again.body.error]).toEqual([404, 'not_found']);
      }
      expect((await ask('GET', base, { headers })).body.policies).toEqual([]);
      const past = await ask('GET', `${base}?includeRevoked=true`, { headers });
      expect(past.body.policies).toContainEqual({
        ...changed.body.policy,
        status: 'revoked',
        spentRaw: null,
        remainingRaw: null,
      });
      expect((await ask('GET', `${base}?includeRevoked=false`, { headers })).body.policies).toEqual(
        [],
      );
      expect((await ask('GET', `${base}?includeRevoked=1`, { headers })).status).toBe(200);
    }
  });

  it('policies take every field that the contract names, and show it', async () => {
    const { ask } = controls.on;
    const { headers, path } = await controls.on.agent();
    const full = {
      limitRaw: '10',
      limitFloorRaw: '5',
      limitCeilingRaw: '20',
      action: 'block',
      label: 'x',
      effectiveFrom: 1,
      effectiveUntil: soon(60),
      qualityThrottleFloorBps: 0,
      qualityWindowSeconds: 60,
    };
    const wishes = [
      {
        ...full,
        kind: 'vendor',
        matchKey: VENDOR,
        matchKind: 'recipient',
        windowKind: 'rolling',
        windowSeconds: 60,
      },
      {
        ...full,
        kind: 'api',
        matchKey: '.X.com',
        matchKind: 'host_suffix',
        windowKind: 'calendar',
        calendarUnit: 'month',
      },
      {
        ...full,
        kind: 'api',
        matchKey: 'x.com',
        matchKind: 'host_exact',
        windowKind: 'once',
        expiresAt: soon(30),
      },
    ];
    for (const wanted of wishes) {
      const made = await ask('POST', `${path}/policies`, { headers, body: wanted });
      expect([made.status, made.body.policy]).toMatchObject([
        201,
        { ...wanted, matchKey: wanted.matchKey.toLowerCase() },
      ]);
    }
    const team = { kind: 'session', limitRaw: '10', windowKind: 'session' };
    const made = await ask('POST', '/v1/developer/policies', { headers, body: team });
    expect([made.status, made.body.policy]).toMatchObject([
      201,
      { ...team, matchKey: null, windowSeconds: null },
    ]);
    const nulls = { ...TASK, action: null, label: null, matchKind: null, windowSeconds: null };
    const plain = await ask('POST', `${path}/policies`, { headers, body: nulls });
    expect([plain.status, plain.body.policy]).toMatchObject([201, ROW]);
  });

  it('a second policy for the same target is refused while the first is active, and created after it expires', async () => {
    const { ask } = controls.on;
    for (const { base, headers } of (await planes()).planes) {
      const make = (more: object = {}) =>
        ask('POST', base, { headers, body: { ...TASK, kind: 'api', matchKey: 'x.com', ...more } });
      const first = await make({ effectiveUntil: soon(2) });
      expect(first.status).toBe(201);
      const second = await make({ matchKey: 'X.COM', limitRaw: '1' });
      expect([second.status, second.body]).toMatchObject([
        409,
        { error: 'duplicate_active_policy', policyId: first.body.policy.id },
      ]);
      const exact = await make({ matchKind: 'host_exact' });
      expect(exact.status).toBe(201);
      await ask('DELETE', `${base}/${exact.body.policy.id}`, { headers });
      await expect.poll(async () => (await make()).status, { timeout: 5_000 }).toBe(201);

      // What is over comes back only where nothing stands in its place.
      const revive = () =>
        ask('PATCH', `${base}/${first.body.policy.id}`, {
          headers,
          body: { effectiveUntil: null },
        });
      expect([(await revive()).status, (await revive()).body.error]).toEqual([
        409,
        'duplicate_active_policy',
      ]);
      const [standing] = (await ask('GET', base, { headers })).body.policies;
      await ask('DELETE', `${base}/${standing.id}`, { headers });
      expect((await revive()).body.policy).toMatchObject({
        status: 'active',
        effectiveUntil: null,
      });
      await ask('DELETE', `${base}/${first.body.policy.id}`, { headers });
    }
  });

  it('concurrent requests for the same policy create one', async () => {
    const { ask } = controls.on;
    for (const { base, headers } of (await planes()).planes) {
      const body = { ...TASK, matchKey: `raced ${base}` };
      const told = await Promise.all([1, 2, 3, 4].map(() => ask('POST', base, { headers, body })));
      expect(told.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    }
  });

  it('the number of policies stays within its limit under concurrent requests', async () => {
    const { ask, sql } = controls.on;
    const { headers, path, agentId } = await controls.on.agent();
    await sql`
      insert into policies (account_id, agent_id, kind, match_key, limit_raw, window_kind,
        window_seconds, starts_at)
      select account_id, id, 'task', 'bulk ' || n, 5, 'rolling', 60, now()
      from agents, generate_series(1, ${SPEND_LIMITS.policy.perAgent - 1}) as n where id = ${agentId}`;
    const told = await Promise.all(
      ['a', 'b', 'c'].map((matchKey) =>
        ask('POST', `${path}/policies`, { headers, body: { ...TASK, matchKey } }),
      ),
    );
    expect(told.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(told.find(({ status }) => status === 409)?.body).toMatchObject({
      error: 'limit_exceeded',
      max: SPEND_LIMITS.policy.perAgent,
    });
  });

  it('policies are reset only when their window rolls', async () => {
    const { ask } = controls.on;
    const { headers, path, key } = await controls.on.agent();
    for (const window of [
      { windowKind: 'once' },
      { windowKind: 'calendar', calendarUnit: 'day' },
    ]) {
      const body = { ...TASK, matchKey: window.windowKind, ...window };
      const { id } = (await ask('POST', `${path}/policies`, { headers, body })).body.policy;
      for (const [base, as] of [
        ['/v1/agents/policies', key],
        [`${path}/policies`, headers],
      ] as const) {
        const told = await ask('POST', `${base}/${id}/reset`, { headers: as });
        expect([told.status, told.body.error]).toEqual([400, 'invalid_window_kind']);
      }
    }
  });

  it('a policy change is refused when the changed policy would be invalid as a whole', async () => {
    const { ask } = controls.on;
    const { headers, path } = await controls.on.agent();
    const body = { ...TASK, limitFloorRaw: '100', limitCeilingRaw: '2000' };
    const { policy } = (await ask('POST', `${path}/policies`, { headers, body })).body;
    const at = `${path}/policies/${policy.id}`;
    const wrong: readonly (readonly [string, unknown])[] = [
      ['limitFloorRaw', { limitRaw: '99' }],
      ['limitCeilingRaw', { limitRaw: '2001' }],
      ['effectiveUntil', { effectiveUntil: soon(-1) }],
      ['effectiveUntil', { effectiveFrom: soon(20), effectiveUntil: soon(10) }],
      ['windowSeconds', { windowSeconds: null }],
      ['windowSeconds', { windowSeconds: 59 }],
      ['limitRaw', { limitRaw: null }],
      ...(
        ['kind', 'matchKey', 'matchKind', 'windowKind', 'calendarUnit', 'expiresAt'] as const
      ).map((field) => [field, { [field]: policy[field] }] as const),
    ];
    for (const [field, edit] of wrong) {
      const told = await ask('PATCH', at, { headers, body: edit });
      expect(
        [told.status, told.body.error, told.body.details[0].path],
        JSON.stringify(edit),
      ).toEqual([400, 'Invalid request', [field]]);
    }
    const [stays] = (await ask('GET', `${path}/policies`, { headers })).body.policies;
    expect(stays).toEqual(policy);
    const cleared = await ask('PATCH', at, {
      headers,
      body: { limitFloorRaw: null, limitRaw: '1' },
    });
    expect(cleared.body.policy).toMatchObject({ limitFloorRaw: null, limitRaw: '1' });
    expect((await ask('PATCH', at, { headers, body: {} })).body).toEqual(cleared.body);
  });
});

describe('a policy of another developer', () => {
  it('a policy of another developer reads as absent, as do the session limit and key budget, which have own routes', async () => {
    const { ask, sql } = controls.on;
    const mine = await controls.on.agent();
    const other = await controls.on.agent();
    const { path, headers, key } = mine;
    const at = async (base: string, as: Record<string, string>) =>
      (await ask('POST', base, { headers: as, body: TASK })).body.policy.id;
    const own = await at(`${path}/policies`, headers);
    const team = await at('/v1/developer/policies', headers);
    await ask('PUT', `${path}/spend-limit`, { headers, body: { limitRaw: '5' } });
    await ask('PUT', `${path}/keys/${mine.keyId}/budget`, { headers, body: { budgetRaw: '5' } });
    const hidden = (
      await sql<{ id: number }[]>`
      select id from policies where agent_id = ${mine.agentId} and kind in ('session', 'key')`
    ).map(({ id }) => id);
    expect(hidden).toHaveLength(2);

    const places: readonly (readonly [string, Record<string, string>, readonly number[]])[] = [
      [`${path}/policies`, headers, [team, ...hidden, 0]],
      ['/v1/agents/policies', key, [team, ...hidden]],
      ['/v1/developer/policies', headers, [own, ...hidden]],
      [`${other.path}/policies`, other.headers, [own, team]],
      ['/v1/agents/policies', other.key, [own, team]],
      ['/v1/developer/policies', other.headers, [own, team]],
      [`${path}/policies`, other.headers, [own]],
    ];
    for (const [base, as, ids] of places) {
      for (const id of ids) {
        for (const [method, tail] of [
          ['PATCH', ''],
          ['DELETE', ''],
          ['POST', '/reset'],
        ] as const) {
          const told = await ask(method, `${base}/${id}${tail}`, { headers: as, body: {} });
          expect([told.status, told.body.error], `${method} ${base}/${id}`).toEqual([
            404,
            'not_found',
          ]);
        }
      }
    }
    for (const method of ['GET', 'POST']) {
      const told = await ask(method, `${path}/policies`, {
        headers: other.headers,
        ...(method === 'POST' && { body: TASK }),
      });
      expect([told.status, told.body.error]).toEqual([404, 'not_found']);
    }
    expect((await ask('PATCH', `${path}/policies/abc`, { headers, body: {} })).status).toBe(400);
    expect((await ask('GET', `${path}/policies`, { headers })).body.policies).toHaveLength(1);
  });

  it('the policies of a closed agent can be read and not changed', async () => {
    const { ask } = controls.on;
    const { path, headers, key } = await controls.on.agent();
    await ask('POST', `${path}/policies`, { headers, body: TASK });
    await ask('POST', `${path}/close`, { headers });
    const told = await ask('POST', `${path}/policies`, {
      headers,
      body: { ...TASK, matchKey: 'x' },
    });
    expect([told.status, told.body.error]).toEqual([403, 'account_closed']);
    expect((await ask('GET', `${path}/policies`, { headers })).body.policies).toHaveLength(1);
    expect((await ask('GET', '/v1/agents/policies', { headers: key })).status).toBe(403);
  });

  it('a policy cannot be changed with a wrong credential or a read-only key', async () => {
    const { ask } = controls.on;
    const { path, headers, key } = await controls.on.agent();
    const readOnly = await ask('POST', `${path}/keys`, { headers, body: { permissions: 'read' } });
    const read = { authorization: `Bearer ${readOnly.body.key}` };
    expect((await ask('GET', '/v1/agents/policies', { headers: read })).status).toBe(200);
    const refusals = [
      [
        await ask('POST', '/v1/agents/policies', { headers: read, body: TASK }),
        403,
        'read_only_key',
      ],
      [
        await ask('POST', '/v1/agents/policies', { headers, body: TASK }),
        401,
        'wrong_credential_type',
      ],
      [
        await ask('POST', `${path}/policies`, { headers: key, body: TASK }),
        401,
        'developer_credential_required',
      ],
      [
        await ask('POST', '/v1/developer/policies', { headers: key, body: TASK }),
        401,
        'developer_credential_required',
      ],
    ] as const;
    for (const [told, status, error] of refusals) {
      expect([told.status, told.body.error]).toEqual([status, error]);
    }
  });
});
