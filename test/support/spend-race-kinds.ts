import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createLedger } from '../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../src/ledger/store/balances.ts';
import { checkInvariants, type Violation } from '../../src/ledger/store/check-invariants.ts';
import { decodeCounters } from '../../src/ledger/store/counter-codec.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { seedAgents } from './ledger-world.ts';
import { addPolicy, type PolicyWish } from './policies.ts';
import { MODEL, PRICE_RAW, type RacingAgent } from './spend-race.ts';

/** What a race is about: which cap fits a tenth of the calls. */
export type RaceKind = {
  readonly name: string;
  /** Of how many agents' calls it is made. */
  readonly agents: number;
  readonly policy?: Pick<PolicyWish, 'kind' | 'windowKind' | 'windowSeconds' | 'calendarUnit'> & {
    readonly matchKey?: (agent: RacingAgent) => string;
    readonly team?: true;
  };
};

const TASK = 'raced';

export const RACE_KINDS: readonly RaceKind[] = [
  { name: 'balance', agents: 1 },
  { name: 'task, rolling', agents: 1, policy: { kind: 'task', matchKey: () => TASK } },
  {
    name: 'task, once',
    agents: 1,
    policy: { kind: 'task', matchKey: () => TASK, windowKind: 'once' },
  },
  {
    name: 'api, calendar month',
    agents: 1,
    policy: {
      kind: 'api',
      matchKey: () => MODEL.split('/')[0] ?? '',
      windowKind: 'calendar',
      calendarUnit: 'month',
    },
  },
  { name: 'session limit', agents: 1, policy: { kind: 'session' } },
  {
    name: 'key budget',
    agents: 1,
    policy: { kind: 'key', matchKey: (a) => String(a.keyId), windowSeconds: 2_592_000 },
  },
  { name: 'team session, five agents', agents: 5, policy: { kind: 'session', team: true } },
  {
    name: 'team task, five agents',
    agents: 5,
    policy: { kind: 'task', matchKey: () => TASK, windowSeconds: 3_600, team: true },
  },
];

export const RACE_HEADERS = { 'x-svc-task-id': TASK };

/** Agents with all the money that they want, but for the one cap of `room` calls. */
export async function prepareRace(
  sql: Sql,
  kind: RaceKind,
  calls: number,
  room: number,
): Promise<{ readonly agents: readonly RacingAgent[]; readonly policyId: number | undefined }> {
  const agents = await seedAgents(sql, kind.agents);
  const node = { nodeId: 'race setup', leaseEpoch: 1 };
  await using ledger = createLedger({
    store: createBalanceStore({ sql, node }),
    clock: systemClock,
    log: silentLog,
  });
  const { policy } = kind;
  const enough = PRICE_RAW * BigInt(policy === undefined ? room : calls);
  for (const { agentId } of agents) {
    await ledger.credit({ agentId, amountRaw: enough, reference: `race ${agentId}` });
  }
  const [first] = agents;
  if (policy === undefined || first === undefined) return { agents, policyId: undefined };
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from agents where id = ${first.agentId}`;
  const { matchKey, team, ...shape } = policy;
  const policyId = await addPolicy(sql, {
    ...shape,
    accountId: row?.account_id ?? '',
    agentId: team ? null : first.agentId,
    ...(matchKey && { matchKey: matchKey(first) }),
    limitRaw: PRICE_RAW * BigInt(room) + PRICE_RAW / 2n,
  });
  return { agents, policyId };
}

/** What counts under a policy when all is over, and what does not add up. */
export async function afterRace(
  sql: Sql,
  agents: readonly RacingAgent[],
  policyId: number | undefined,
): Promise<{
  readonly heldRaw: bigint;
  readonly settledRaw: bigint;
  readonly chargedRaw: bigint;
  /** Lines of the agents' history. */
  readonly charges: number;
  readonly violations: readonly Violation[];
}> {
  const ids = agents.map(({ agentId }) => String(agentId));
  const rows = await sql<
    { held: bigint; charged: string; charges: number; counters: string | null }[]
  >`
    select f.held_raw as held, f.counters, coalesce((
      select sum(c.cost_raw) from charges c where c.agent_id = f.agent_id), 0)::text as charged,
      (select count(*)::integer from charges c where c.agent_id = f.agent_id) as charges
    from agent_funds f where f.agent_id = any (${ids}::integer[])`;
  const [team] = await sql<{ held: bigint; settled: bigint }[]>`
    select held_raw as held, (select sum(b) from unnest(buckets) as u(b))::bigint as settled
    from team_counters where policy_id = ${policyId ?? 0}`;
  const own = rows
    .flatMap((row) => decodeCounters(row.counters))
    .find((counter) => counter.policyId === policyId);
  const heldNow = rows.reduce((sum, row) => sum + row.held, 0n);
  return {
    heldRaw: team?.held ?? own?.heldRaw ?? heldNow,
    settledRaw: team?.settled ?? own?.settledRaw ?? 0n,
    chargedRaw: rows.reduce((sum, row) => sum + BigInt(row.charged), 0n),
    charges: rows.reduce((sum, row) => sum + row.charges, 0),
    violations: await checkInvariants(sql),
  };
}
