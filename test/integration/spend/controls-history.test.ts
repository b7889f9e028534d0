import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeCounters } from '../../../src/ledger/store/counter-codec.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { readHistory } from '../../../src/spend/awareness/history-store.ts';
import {
  countedOf,
  readTeamCounters,
  seedCounter,
} from '../../../src/spend/limits/counter-store.ts';
import { seededChance } from '../../simulation/seeded.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { addPolicy } from '../../support/policies.ts';
import { policyOf } from '../../support/spending.ts';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = database.sql;
});
afterAll(() => database[Symbol.asyncDispose]());

const HOUR_MS = 3_600_000;

async function team() {
  const agents = await seedAgents(sql, 3);
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from agents where id = ${agents[0]?.agentId ?? 0}`;
  return { accountId: row?.account_id ?? '', agentIds: agents.map(({ agentId }) => agentId) };
}

const charge = (agentId: number, taskId: string, costRaw: number, ageMs: number) => sql`
  insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw, usage,
    task_id, created_at)
  values (${agentId}, 'x', 'x', 'acme', 'POST', 'success', ${costRaw}, '{}', ${taskId},
    clock_timestamp() - ${ageMs} * interval '1 millisecond')`;

describe('what was spent before a policy was', () => {
  it('a new policy counts the same earlier spend whether it is summed before or while its agents wait', async () => {
    const chance = seededChance(7);
    const { accountId, agentIds } = await team();
    const spendSome = async (times: number) => {
      for (let i = 0; i < times; i++) {
        const ageMs = chance.below(3 * HOUR_MS);
        await charge(
          chance.pick(agentIds),
          chance.pick(['plan', 'other']),
          chance.below(50),
          ageMs,
        );
      }
    };
    await spendSome(120);
    const shapes: Partial<Policy>[] = [
      { kind: 'task', matchKey: 'plan', window: { kind: 'rolling', seconds: 7_200 } },
      { kind: 'session', matchKey: null, window: { kind: 'rolling', seconds: 60 } },
      { kind: 'api', matchKey: 'acme', window: { kind: 'calendar', unit: 'month' } },
      { kind: 'task', matchKey: 'plan', window: { kind: 'once' } },
    ];
    for (const shape of shapes) {
      for (const agentId of [null, agentIds[0] ?? 0]) {
        const owner = { accountId, agentId };
        const { kind, matchKey } = policyOf(shape);
        const id = await addPolicy(sql, {
          ...owner,
          kind,
          limitRaw: 1_000_000n,
          ...(matchKey !== null && { matchKey }),
        });
        const policy = policyOf({ ...shape, id, agentId });
        const nowMs = Date.now();
        const known = await readHistory(sql, owner, countedOf(policy, 0), nowMs);
        // A charge that comes before the rows are locked; and an agent that is new.
        await spendSome(20);
        const [late] = await seedAgents(sql, 1);
        await sql`
          update agent_funds set account_id = ${accountId} where agent_id = ${late?.agentId ?? 0}`;
        await charge(late?.agentId ?? 0, 'plan', 5, 0);
        const read = async () => {
          const [row] = await sql<{ counters: string | null }[]>`
            select counters from agent_funds where agent_id = ${agentId ?? 0}`;
          const own = decodeCounters(row?.counters ?? null).find((c) => c.policyId === id);
          return own ?? (await readTeamCounters(sql, [id])).get(id);
        };
        await seedCounter(sql, policy, owner, 0, nowMs, known);
        const quick = await read();
        await seedCounter(sql, policy, owner, 0, nowMs);
        expect(quick).toEqual(await read());
        if (kind !== 'session') expect(quick?.settledRaw).toBeGreaterThan(0n);
      }
    }
  });

  it('a policy sums earlier spend anew when its window or its start has changed', async () => {
    const { accountId, agentIds } = await team();
    const [agentId = 0] = agentIds;
    const owner = { accountId, agentId };
    await charge(agentId, 'plan', 10, 30_000);
    await charge(agentId, 'plan', 100, 2 * HOUR_MS);
    const id = await addPolicy(sql, { ...owner, kind: 'task', matchKey: 'plan', limitRaw: 1_000n });
    const minute = policyOf({
      id,
      kind: 'task',
      matchKey: 'plan',
      window: { kind: 'rolling', seconds: 60 },
    });
    const day = { ...minute, window: { kind: 'rolling', seconds: 86_400 } } as const;
    const nowMs = Date.now();
    const ofMinute = await readHistory(sql, owner, countedOf(minute, 0), nowMs);
    const settled = async (...args: Parameters<typeof seedCounter>) => {
      await seedCounter(...args);
      const [row] = await sql<{ counters: string }[]>`
        select counters from agent_funds where agent_id = ${agentId}`;
      return decodeCounters(row?.counters ?? null)[0]?.settledRaw;
    };
    expect(await settled(sql, day, owner, 0, nowMs, ofMinute)).toBe(110n);
    expect(await settled(sql, minute, owner, 0, nowMs, ofMinute)).toBe(10n);
    expect(await settled(sql, day, owner, nowMs - HOUR_MS, nowMs, ofMinute)).toBe(10n);
  });
});
