import { describe, expect, it } from 'vitest';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { useControls } from '../../support/controls-world.ts';

const controls = useControls();

async function keys() {
  const made = await controls.on.agent();
  const { ask } = controls.on;
  const { headers, path } = made;
  const at = (keyId: number) => `${path}/keys/${keyId}`;
  return {
    ...made,
    mint: (body: unknown = {}) => ask('POST', `${path}/keys`, { headers, body }),
    list: async () => (await ask('GET', `${path}/keys`, { headers })).body.keys,
    rotate: (keyId: number) => ask('POST', `${at(keyId)}/rotate`, { headers }),
    revoke: (keyId: number) => ask('DELETE', at(keyId), { headers }),
    set: (keyId: number, body: unknown) => ask('PUT', `${at(keyId)}/budget`, { headers, body }),
    clear: (keyId: number) => ask('DELETE', `${at(keyId)}/budget`, { headers }),
  };
}

const view = (limitRaw: string, spentRaw: string, remainingRaw: string) => ({
  policyId: expect.any(Number),
  limitRaw,
  spentRaw,
  remainingRaw,
  windowKind: 'rolling',
});

describe('the budget of a key', () => {
  it('the budget of a key is set with the key, and binds the spend of that key and no other', async () => {
    const { mint, list, agentId, keyId } = await keys();
    const { spend, refused, sql } = controls.on;
    const made = await mint({ label: 'capped', budgetRaw: '100', windowSeconds: 3_600 });
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        label: 'capped',
        key: expect.any(String),
        budget: { ...view('100', '0', '100'), windowResetsAt: null },
      },
    ]);
    const capped = { keyId: made.body.id, keyRootId: made.body.id };
    await spend(agentId, 60n, capped);
    expect(await refused(agentId, 41n, capped)).toBe('cap_exceeded');
    expect(await refused(agentId, 41n, { keyId, keyRootId: keyId })).toBeUndefined();
    const [plain, listed] = await list();
    expect([plain.budget, listed.budget]).toEqual([
      null,
      { ...view('100', '60', '40'), windowResetsAt: expect.stringMatching(/Z$/) },
    ]);
    const resets = Date.parse(listed.budget.windowResetsAt) - Date.now();
    expect(resets).toBeGreaterThan(3_500_000);
    expect(resets).toBeLessThan(3_700_000);
    const [stored] = await sql`
      select kind, match_key, window_seconds, action from policies where id = ${listed.budget.policyId}`;
    expect(stored).toEqual({
      kind: 'key',
      match_key: String(made.body.id),
      window_seconds: 3_600,
      action: 'block',
    });
  });

  it('the budget of a key is inherited by its rotated keys together with its spend', async () => {
    const { mint, rotate, list, set, agentId } = await keys();
    const { spend, refused, open, settle, ownCounters } = controls.on;
    const made = await mint({ budgetRaw: '100' });
    const rootId = made.body.id;
    await spend(agentId, 30n, { keyId: rootId, keyRootId: rootId });
    const held = await open(agentId, 20n, { keyId: rootId, keyRootId: rootId });
    const heir = await rotate(rootId);
    expect([heir.status, heir.body.budget]).toEqual([
      201,
      {
        ...view('100', '50', '50'),
        policyId: made.body.budget.policyId,
        windowResetsAt: expect.any(String),
      },
    ]);
    const second = await rotate(heir.body.id);
    const spender = { keyId: second.body.id, keyRootId: rootId };
    expect(await refused(agentId, 51n, spender)).toBe('cap_exceeded');
    await settle(held, 20n, rootId);
    await spend(agentId, 50n, spender);
    expect(await refused(agentId, 1n, spender)).toBe('cap_exceeded');

    // Counted anew over another window, the spending of every key of the line is found again.
    const changed = await set(second.body.id, { budgetRaw: '200', windowSeconds: 7_200 });
    expect([changed.status, changed.body.budget]).toMatchObject([200, view('200', '100', '100')]);
    expect((await list()).map(({ budget }: { budget: unknown }) => budget)).toMatchObject([
      null,
      view('200', '100', '100'),
    ]);
    expect((await ownCounters(agentId)).get(made.body.budget.policyId)?.heldRaw).toBe(0n);
    const gone = await set(rootId, { budgetRaw: '5' });
    expect([gone.status, gone.body.error]).toEqual([404, 'Key not found']);
  });

  it('the budget of a key ends with the last key of its rotations', async () => {
    const { mint, rotate, revoke, agentId } = await keys();
    const { sql, ownCounters } = controls.on;
    const made = await mint({ budgetRaw: '100' });
    const heir = await rotate(made.body.id);
    const { policyId } = heir.body.budget;
    const revokedAt = async () =>
      (
        await sql<
          { revoked_at: Date | null }[]
        >`select revoked_at from policies where id = ${policyId}`
      )[0]?.revoked_at;
    expect(await revokedAt()).toBeNull();
    expect((await revoke(heir.body.id)).status).toBe(200);
    expect(await revokedAt()).toBeInstanceOf(Date);
    expect((await ownCounters(agentId)).has(policyId)).toBe(false);
  });

  it('the budget of a key can be set, changed and cleared by its own route', async () => {
    const { set, clear, list, keyId, agentId } = await keys();
    const { spend, refused } = controls.on;
    const spender = { keyId, keyRootId: keyId };
    await spend(agentId, 30n, spender);
    const first = await set(keyId, { budgetRaw: '100', windowSeconds: 60 });
    expect([first.status, first.body]).toMatchObject([200, { budget: view('100', '30', '70') }]);
    const second = await set(keyId, { budgetRaw: '20' });
    expect(second.body.budget).toMatchObject({
      ...view('20', '30', '0'),
      policyId: first.body.budget.policyId,
    });
    expect(await refused(agentId, 1n, spender)).toBe('cap_exceeded');
    expect((await clear(keyId)).body).toEqual({ status: 'cleared' });
    expect(await refused(agentId, 1n, spender)).toBeUndefined();
    expect((await list())[0].budget).toBeNull();
    const again = await clear(keyId);
    expect([again.status, again.body.error]).toEqual([404, 'not_found']);
  });

  it('an invalid budget is refused with the invalid field, and no key is created without its budget', async () => {
    const { mint, set, clear, list, keyId } = await keys();
    const amounts = [
      '0',
      '-1',
      '1.5',
      '1e6',
      '',
      ' 5',
      '٣',
      String(2n ** 300n),
      '1\u0000',
      '1000000000000001',
    ];
    for (const budgetRaw of amounts) {
      const told = await set(keyId, { budgetRaw });
      expect([told.status, told.body.error], budgetRaw).toEqual([400, 'invalid_budget']);
      const unmade = await mint({ budgetRaw });
      expect([unmade.status, unmade.body.error, unmade.body.details[0].path], budgetRaw).toEqual([
        400,
        'Invalid request',
        ['budgetRaw'],
      ]);
    }
    for (const body of [{}, { budgetRaw: 5 }, { budgetRaw: null }]) {
      expect(await set(keyId, body)).toMatchObject({
        status: 400,
        body: { error: 'Invalid request' },
      });
    }
    for (const windowSeconds of [59, 31_536_001, 60.5, '60', -60]) {
      for (const told of [
        await set(keyId, { budgetRaw: '5', windowSeconds }),
        await mint({ budgetRaw: '5', windowSeconds }),
      ]) {
        expect([told.status, told.body.details?.[0].path], String(windowSeconds)).toEqual([
          400,
          ['windowSeconds'],
        ]);
      }
    }
    expect((await mint({ windowSeconds: 60 })).status).toBe(400);
    for (const id of [0, 2_147_483_647]) {
      expect(await set(id, { budgetRaw: '5' })).toMatchObject({
        status: 404,
        body: { error: 'Key not found' },
      });
      expect(await clear(id)).toMatchObject({ status: 404, body: { error: 'Key not found' } });
    }
    const other = await keys();
    const foreign = await controls.on.ask('PUT', `${other.path}/keys/${other.keyId}/budget`, {
      headers: (await controls.on.agent()).headers,
      body: { budgetRaw: '5' },
    });
    expect([foreign.status, foreign.body.error]).toEqual([404, 'not_found']);
    expect(await list()).toMatchObject([{ id: keyId, budget: null }]);
  });

  it('the budget of a key allows exactly its amount while the key is rotated during calls', async () => {
    const { mint, rotate, agentId } = await keys();
    const { refused, open, settle, sql } = controls.on;
    const made = await mint({ budgetRaw: '100' });
    const rootId: number = made.body.id;
    let keyId = rootId;
    let passed = 0;
    const call = async () => {
      const held = await open(agentId, 1n, { keyId, keyRootId: rootId }).catch(() => undefined);
      if (held === undefined) return;
      passed++;
      await settle(held, 1n, keyId);
    };
    for (let round = 0; round < 6; round++) {
      const calls = Array.from({ length: 40 }, call);
      const heir = await rotate(keyId);
      await Promise.all(calls);
      keyId = heir.body.id;
    }
    await Promise.all(Array.from({ length: 120 }, call));
    expect(passed).toBe(100);
    expect(await refused(agentId, 1n, { keyId, keyRootId: rootId })).toBe('cap_exceeded');
    expect(await checkInvariants(sql)).toEqual([]);
  });
});
