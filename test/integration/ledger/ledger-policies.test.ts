import { describe, expect, it } from 'vitest';
import type { LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { findBalance } from '../../../src/ledger/store/balances.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { miscounted } from '../../support/compare-ledger.ts';
import { testDatabase } from '../../support/database.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgent, seedAgents } from '../../support/ledger-world.ts';
import { insertPolicy } from '../../support/policy-arbitrary.ts';
import { DESTINATION, policyOf } from '../../support/spending.ts';

const HOUR_SEC = 3_600;
const nowSec = () => Math.floor(Date.now() / 1_000);

const rulesOf = async (sql: Sql, agentId: number) => {
  const balance = await findBalance(sql, agentId);
  if (balance === undefined) throw new Error(`no agent ${agentId}`);
  return balance.rules;
};

/** Three agents of one account with money, and a policy for each owner that is named. */
async function teamOf(sql: Sql, policies: readonly Partial<Policy>[]) {
  const agents = await seedAgents(sql, 3);
  const agentIds = agents.map(({ agentId }) => agentId);
  const { accountId } = await rulesOf(sql, agentIds[0] ?? 0);
  const policyIds: number[] = [];
  for (const policy of policies) {
    const owner = { accountId, agentId: policy.agentId ?? null };
    policyIds.push(await insertPolicy(sql, owner, policyOf(policy)));
  }
  await using ledger = liveLedger(sql, 'start');
  for (const agentId of agentIds) {
    await ledger.credit({ agentId, amountRaw: 1_000n, reference: `start ${agentId}` });
  }
  return { agentIds, policyIds, accountId };
}

const hold = (ledger: LiveLedger, agentId: number, holdId: string, amountRaw = 1n) =>
  ledger.hold({ spender: { agentId }, holdId, amountRaw, destination: DESTINATION });

describe('a cap', () => {
  it.each(['a team', 'one agent'])(
    'a cap of %s allows exactly 100 of 200 concurrent holds when 100 fit, in two ledgers',
    async (whose) => {
      await using db = await testDatabase();
      const { sql } = db;
      const { agentIds, accountId } = await teamOf(sql, []);
      const [first = 0] = agentIds;
      const spenders = whose === 'a team' ? agentIds : [first];
      const agentId = whose === 'a team' ? null : first;
      await insertPolicy(sql, { accountId, agentId }, policyOf({ limitRaw: 100n }));
      await using a = liveLedger(sql, 'a');
      await using b = liveLedger(sql, 'b');
      const verdicts = await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          hold(i % 2 === 0 ? a : b, spenders[i % spenders.length] ?? 0, `h${i}`),
        ),
      );
      const held = verdicts.flatMap((verdict) => (verdict.kind === 'held' ? [verdict.hold] : []));
      expect(held).toHaveLength(100);
      const refusal = { reason: 'cap_exceeded', breach: { capRaw: 100n, spentRaw: 100n } };
      expect(await hold(a, first, 'late')).toMatchObject({ kind: 'refused', refusal });
      // What is settled to nothing makes room again, and nothing else does.
      for (const [i, one] of held.slice(0, 10).entries()) {
        const actualRaw = i < 5 ? 0n : 1n;
        await a.settle({ hold: one, actualRaw, account: 'gateway', source: 's' });
      }
      const again = await Promise.all(
        Array.from({ length: 20 }, (_, i) => hold(b, first, `again${i}`)),
      );
      expect(again.filter(({ kind }) => kind === 'held')).toHaveLength(5);
      expect(await miscounted(sql, agentIds)).toEqual([]);
      expect(await checkInvariants(sql)).toEqual([]);
    },
  );
});

describe('the rules of an agent', () => {
  it('the rules of an agent contain its own and its team’s live policies, ordered by id', async () => {
    await using db = await testDatabase();
    const { sql } = db;
    const { agentIds, accountId } = await teamOf(sql, []);
    const [agentId = 0, sibling = 0] = agentIds;
    const stranger = await rulesOf(sql, (await seedAgent(sql)).agentId);
    const wanted: Policy = policyOf({
      kind: 'api',
      matchKey: '.acme.test',
      matchKind: 'host_suffix',
      limitRaw: 9_007_199_254_740_993n,
      limitFloorRaw: 2n,
      limitCeilingRaw: 2n ** 62n,
      window: { kind: 'rolling', seconds: 3_600 },
      effectiveFromSec: nowSec() + HOUR_SEC,
      effectiveUntilSec: nowSec() + 2 * HOUR_SEC,
      expiresAtSec: nowSec() + 3 * HOUR_SEC,
      action: 'suspend_agent',
      label: 'é "q"',
      qualityFloorBps: 2_500,
      qualityWindowSeconds: 3_600,
      reserves: true,
      startsAtMs: 0,
    });
    const insert = async (owner: number | null, change: Partial<Policy>, account = accountId) => {
      const policy = { ...wanted, ...change };
      const id = await insertPolicy(sql, { accountId: account, agentId: owner }, policy);
      return { ...policy, id, agentId: owner };
    };
    const team = await insert(null, { window: { kind: 'calendar', unit: 'week' } });
    const own = [await insert(agentId, {}), await insert(agentId, { window: { kind: 'once' } })];
    await insert(sibling, {});
    await insert(null, {}, stranger.accountId);
    await insert(agentId, { expiresAtSec: nowSec() - 1 });
    await insert(agentId, { effectiveUntilSec: nowSec() - 1 });
    const revoked = await insert(null, {});
    await sql`update policies set revoked_at = now() where id = ${revoked.id}`;

    const outcome = (actionId: string, status: string, score: number | null, agoSec: number) => sql`
      insert into action_outcomes (agent_id, action_id, status, score_bps, reported_at)
      values (${agentId}, ${actionId}, ${status}, ${score},
        now() - make_interval(secs => ${agoSec}))`;
    await outcome('a', 'success', null, 0);
    await outcome('b', 'partial', null, 10);
    await outcome('c', 'failure', 1_001, 20);
    await outcome('old', 'failure', null, 2 * HOUR_SEC);

    const rules = await rulesOf(sql, agentId);
    expect(rules.policies).toEqual(own);
    expect(rules.teamPolicies).toEqual([team]);
    expect(rules.quality).toEqual(new Map([[3_600, Math.floor((10_000 + 5_000 + 1_001) / 3)]]));
    expect((await rulesOf(sql, sibling)).quality).toEqual(new Map([[3_600, null]]));
  });
});
