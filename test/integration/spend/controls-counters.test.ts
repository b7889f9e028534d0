import { describe, expect, it } from 'vitest';
import type { Hold } from '../../../src/ledger/rules/requests.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { type Purpose, useControls } from '../../support/controls-world.ts';

const controls = useControls();

const soon = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;
const PAYEE = `0x${'a'.repeat(40)}`;
const EVERYTHING: Purpose = { taskId: 'job', host: 'api.x.com', payee: PAYEE };

/** One cap of every kind and window that this spending counts under. */
const CAPS = [
  { kind: 'task', matchKey: 'job', windowSeconds: 3_600 },
  { kind: 'api', matchKey: '.x.com', windowKind: 'calendar', calendarUnit: 'month' },
  { kind: 'api', matchKey: 'api.x.com', matchKind: 'host_exact', windowKind: 'once' },
  { kind: 'vendor', matchKey: PAYEE, effectiveFrom: 1, effectiveUntil: soon(3_600) },
];

async function capped() {
  const made = await controls.on.agent();
  const { ask } = controls.on;
  const { headers, path } = made;
  const make = async (base: string, body: object) =>
    (await ask('POST', base, { headers, body: { limitRaw: '100000', ...body } })).body.policy;
  const own = `${path}/policies`;
  const team = '/v1/developer/policies';
  const read = async (base: string) => (await ask('GET', base, { headers })).body.policies;
  return { ...made, ask, make, own, team, read };
}

describe('caps that are edited while money is held', () => {
  it('caps that are edited while money is held count exactly zero once every hold is released', async () => {
    const { agentId, headers, path, ask, make, own, team, read } = await capped();
    const { open, release, settle, ownCounters, sql } = controls.on;
    const holds: Hold[] = [await open(agentId, 10n, EVERYTHING)];
    const owned = [];
    const shared = [];
    for (const cap of CAPS) owned.push(await make(own, cap));
    for (const cap of [...CAPS, { kind: 'session', windowKind: 'session' }]) {
      shared.push(await make(team, cap));
    }
    await ask('PUT', `${path}/spend-limit`, { headers, body: { limitRaw: '90000' } });
    for (const policy of [...owned, ...shared]) expect(policy.spentRaw, policy.kind).toBe('10');

    holds.push(await open(agentId, 20n, EVERYTHING));
    const patch = (base: string, id: number, body: object) =>
      ask('PATCH', `${base}/${id}`, { headers, body });
    const edits = [
      await patch(own, owned[0].id, { windowSeconds: 7_200, limitRaw: '50000' }),
      await patch(own, owned[2].id, { effectiveFrom: soon(-5) }),
      await patch(own, owned[3].id, { effectiveFrom: soon(60), effectiveUntil: null }),
      await patch(team, shared[0].id, { windowSeconds: 60 }),
      await patch(team, shared[4].id, { effectiveFrom: soon(-5), limitRaw: '70000' }),
      await ask('POST', `${own}/${owned[0].id}/reset`, { headers }),
      await ask('PUT', `${path}/spend-limit`, { headers, body: { limitRaw: '80000' } }),
    ];
    expect(edits.map(({ status }) => status)).toEqual(edits.map(() => 200));
    for (const { body } of edits.slice(0, 6)) expect(body.policy.spentRaw).toBe('30');
    expect(edits[6]?.body.sessionSpentRaw).toBe('30');
    await ask('DELETE', `${own}/${owned[1].id}`, { headers });
    await ask('DELETE', `${team}/${shared[1].id}`, { headers });
    const anew = await make(own, CAPS[1] ?? {});
    expect(anew.spentRaw).toBe('30');
    expect(await checkInvariants(sql)).toEqual([]);

    holds.push(await open(agentId, 5n, EVERYTHING));
    await settle(holds.pop() as Hold, 3n);
    for (const held of holds) await release(held);
    for (const counter of (await ownCounters(agentId)).values()) expect(counter.heldRaw).toBe(0n);
    const teams = await sql`select policy_id from team_counters where held_raw <> 0`;
    expect(teams).toEqual([]);
    const living = [...(await read(own)), ...(await read(team))];
    expect(living.map(({ spentRaw }) => spentRaw)).toEqual(living.map(() => '3'));
    expect(await checkInvariants(sql)).toEqual([]);
  });

  it('caps count correctly while calls and edits race', async () => {
    const { agentId, headers, path, ask, make, own, team } = await capped();
    const { open, settle, release, ownCounters, sql } = controls.on;
    const task = await make(own, CAPS[0] ?? {});
    const all = await make(team, { kind: 'session', windowKind: 'session' });
    const until = performance.now() + 1_500;
    let spentRaw = 0n;
    const caller = async () => {
      for (let i = 0; performance.now() < until; i++) {
        const held = await open(agentId, 7n, EVERYTHING);
        if (i % 3 === 0) await release(held);
        else {
          await settle(held, 4n);
          spentRaw += 4n;
        }
      }
    };
    const editor = async () => {
      for (let i = 0; performance.now() < until; i++) {
        const windowSeconds = 3_600 + (i % 5) * 600;
        const done = [
          await ask('PATCH', `${own}/${task.id}`, { headers, body: { windowSeconds } }),
          await ask('PATCH', `${team}/${all.id}`, { headers, body: { effectiveFrom: i % 2 } }),
          await ask('PUT', `${path}/spend-limit`, { headers, body: { limitRaw: '900000' } }),
          ...(i % 4 === 3 ? [await ask('DELETE', `${path}/spend-limit`, { headers })] : []),
        ];
        expect(done.map(({ status }) => status)).toEqual(done.map(() => 200));
        const { policy } = (
          await ask('POST', own, { headers, body: { ...CAPS[2], limitRaw: '100000' } })
        ).body;
        expect((await ask('DELETE', `${own}/${policy.id}`, { headers })).status).toBe(200);
      }
    };
    await Promise.all([caller(), caller(), caller(), caller(), editor()]);
    expect(await checkInvariants(sql)).toEqual([]);
    for (const counter of (await ownCounters(agentId)).values()) expect(counter.heldRaw).toBe(0n);
    const { policies } = (await ask('GET', own, { headers })).body;
    expect(policies).toMatchObject([{ id: task.id, spentRaw: String(spentRaw) }]);
    const [shared] = (await ask('GET', team, { headers })).body.policies;
    expect(shared.spentRaw).toBe(String(spentRaw));
  });
});

describe('a cap that is made after money was spent', () => {
  it('a new cap counts earlier spend in a time window, and not in a window that begins with the cap', async () => {
    const { agentId, make, own, team } = await capped();
    const { spend, refused } = controls.on;
    await spend(agentId, 40n, EVERYTHING);
    const rolling = await make(own, { ...CAPS[0], limitRaw: '50' });
    expect(rolling).toMatchObject({ spentRaw: '40', remainingRaw: '10' });
    expect(await refused(agentId, 11n, EVERYTHING)).toBe('cap_exceeded');
    expect(await refused(agentId, 10n, EVERYTHING)).toBeUndefined();
    expect(await make(own, CAPS[1] ?? {})).toMatchObject({ spentRaw: '40' });
    expect(await make(own, CAPS[2] ?? {})).toMatchObject({ spentRaw: '0' });
    expect(await make(team, { ...CAPS[3], limitRaw: '39' })).toMatchObject({
      spentRaw: '40',
      remainingRaw: '0',
    });
    expect(await refused(agentId, 1n, EVERYTHING)).toBe('cap_exceeded');
    expect(await make(team, { kind: 'session', windowKind: 'session' })).toMatchObject({
      spentRaw: '0',
    });
  });

  it('a cap ignores the spend before its reset, even after its window is changed', async () => {
    const { agentId, headers, ask, make, own } = await capped();
    const { spend, refused } = controls.on;
    const cap = await make(own, { ...CAPS[0], limitRaw: '50' });
    await spend(agentId, 50n, EVERYTHING);
    expect(await refused(agentId, 1n, EVERYTHING)).toBe('cap_exceeded');
    const reset = await ask('POST', `${own}/${cap.id}/reset`, { headers });
    expect(reset.body.policy).toMatchObject({ spentRaw: '0', remainingRaw: '50' });
    await spend(agentId, 20n, EVERYTHING);
    const changed = await ask('PATCH', `${own}/${cap.id}`, {
      headers,
      body: { windowSeconds: 86_400 },
    });
    expect(changed.body.policy).toMatchObject({ spentRaw: '20', remainingRaw: '30' });
  });

  it('an expired cap binds no agent, and counts all spend again when it is revived', async () => {
    const { agentId, headers, ask, make, own } = await capped();
    const { spend, refused, open, release, ownCounters, sql } = controls.on;
    const cap = await make(own, { ...CAPS[0], limitRaw: '50', effectiveUntil: soon(2) });
    await spend(agentId, 30n, EVERYTHING);
    expect(await refused(agentId, 21n, EVERYTHING)).toBe('cap_exceeded');
    await expect.poll(() => refused(agentId, 21n, EVERYTHING)).toBeUndefined();
    const [expired] = (await ask('GET', `${own}?includeRevoked=true`, { headers })).body.policies;
    expect(expired).toMatchObject({ id: cap.id, status: 'expired', spentRaw: null });
    expect((await ask('GET', own, { headers })).body.policies).toEqual([]);
    // Money moves while no policy counts it.
    controls.on.ledger.invalidate(agentId);
    await spend(agentId, 5n, EVERYTHING);
    const held = await open(agentId, 7n, EVERYTHING);
    const label = await ask('PATCH', `${own}/${cap.id}`, {
      headers,
      body: { label: 'still over' },
    });
    expect(label.body.policy).toMatchObject({ status: 'expired' });
    const back = await ask('PATCH', `${own}/${cap.id}`, {
      headers,
      body: { effectiveUntil: soon(600) },
    });
    expect(back.body.policy).toMatchObject({ status: 'active', spentRaw: '42', remainingRaw: '8' });
    expect(await refused(agentId, 9n, EVERYTHING)).toBe('cap_exceeded');
    await release(held);
    expect((await ownCounters(agentId)).get(cap.id)?.heldRaw).toBe(0n);
    expect(await checkInvariants(sql)).toEqual([]);
  });
});
