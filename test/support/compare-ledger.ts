import { type Balance, findBalance } from '../../src/ledger/store/balances.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import type { Counter } from '../../src/policy/counter.ts';
import { matches } from '../../src/policy/match.ts';
import type { SpendFacts } from '../../src/policy/policy.ts';
import type { MemoryLedger } from './fakes/memory-ledger.ts';
import type { PaymentRow, PayoutRow } from './fakes/memory-payments.ts';

/** Everything that `apply_batch` writes, as far as the model of it keeps it. */
type Ledger = {
  readonly balances: readonly (Balance | undefined)[];
  readonly holds: readonly OpenHold[];
  readonly teamCounters: readonly Omit<Counter, 'settledRaw'>[];
  readonly thresholds: ReadonlyMap<number, string>;
  readonly reservations: ReadonlyMap<string, PaymentRow>;
  readonly payouts: ReadonlyMap<string, PayoutRow>;
  readonly postings: number;
  readonly ended: number;
  readonly journal: number;
  readonly charges: number;
  readonly events: number;
};

type OpenHold = { id: string; agentId: number; amountRaw: bigint; facts: SpendFacts };

const byId = <T extends { id: string }>(items: readonly T[]): T[] =>
  [...items].sort((a, b) => (a.id < b.id ? -1 : 1));

/** What the model says there is. */
export const ledgerOf = (model: MemoryLedger): Ledger => ({
  balances: [...model.balances.values()],
  holds: byId([...model.holds].map(([id, hold]) => ({ id, ...hold }))),
  teamCounters: [...model.teamCounters.values()].map(({ settledRaw: _, ...counter }) => counter),
  thresholds: model.thresholds,
  reservations: model.reservations,
  payouts: model.payouts,
  postings: model.postings.size,
  ended: [...model.sessions.values()].filter(({ ended }) => ended !== null).length,
  journal: model.journal.size,
  charges: model.charges,
  events: model.events,
});

/** What the database says there is. */
export async function readLedger(sql: Sql, agents: readonly number[]): Promise<Ledger> {
  const balances = await Promise.all(agents.map((agentId) => findBalance(sql, agentId)));
  const holds = await sql<OpenHold[]>`
    select id, agent_id as "agentId", amount_raw as "amountRaw",
      json_build_object('keyRootId', key_root_id, 'taskId', task_id, 'host', host, 'payee', payee)
        as facts
    from holds`;
  const teamCounters = await sql<{ id: number; held: bigint; head: bigint; buckets: bigint[] }[]>`
    select policy_id as id, held_raw as held, head, buckets from team_counters order by policy_id`;
  const thresholds = await sql<{ id: number; state: string }[]>`
    select id, last_state as state from credit_thresholds where last_fired_at is not null`;
  const [rows] = await sql<Pick<Ledger, 'postings' | 'ended' | 'journal' | 'charges' | 'events'>[]>`
    select (select count(*)::int from postings) as postings,
      (select count(*)::int from sessions where ended_at is not null) as ended,
      (select count(*)::int from session_journal) as journal,
      (select count(*)::int from charges) as charges,
      (select count(*)::int from events) as events`;
  if (rows === undefined) throw new Error('nothing was counted');
  return {
    balances,
    holds: byId(holds),
    teamCounters: teamCounters.map(({ id, held, head, buckets }) => ({
      policyId: id,
      heldRaw: held,
      head: Number(head),
      buckets,
    })),
    thresholds: new Map(thresholds.map(({ id, state }) => [id, state])),
    reservations: await readReservations(sql),
    payouts: await readPayouts(sql),
    ...rows,
  };
}

async function readReservations(sql: Sql): Promise<Map<string, PaymentRow>> {
  const rows = await sql<(PaymentRow & { nonce: string })[]>`
    select nonce, agent_id as "agentId", hold_id as "holdId", key_id as "keyId", task_id as "taskId",
      action_id as "actionId", customer_id as "customerId", wallet, payee, value_raw as "valueRaw",
      valid_before::float8 as "validBefore", signature, x402_version as "x402Version", network,
      target_url as "targetUrl", target_host as "targetHost", method, state, refused,
      tx_hash as "txHash", response_status_code as "responseStatusCode", latency_ms as "latencyMs",
      sent_at is not null as sent, decided_at is not null as decided,
      corrected_at is not null as corrected
    from reservations`;
  return new Map(rows.map(({ nonce, ...row }) => [nonce, row]));
}

async function readPayouts(sql: Sql): Promise<Map<string, PayoutRow>> {
  const rows = await sql<(PayoutRow & { nonce: string; done: boolean })[]>`
    select nonce, agent_id as "agentId", kind, wallet, payee, amount_raw as "amountRaw", state,
      tx_hash as "txHash", done_at is not null as done
    from payouts`;
  return new Map(
    rows.map(({ nonce, done, ...row }) => {
      if (done !== (row.state === 'done'))
        throw new Error(`${nonce} is ${row.state}, done ${done}`);
      return [nonce, row];
    }),
  );
}

/** Sums that are not what the rows say which they are sums of: in each case what it is of. */
export async function miscounted(sql: Sql, agents: readonly number[]): Promise<string[]> {
  const sums = await sql<{ detail: string }[]>`
    (select format('spend of %s', t) as detail from (
      (select agent_id, model, rail, calls, failed, cost_raw from spend_totals)
      except
      (select agent_id, coalesce(model, ''), coalesce(rail, ''), count(*),
         count(*) filter (where status = 'failed'), sum(cost_raw) from charges group by 1, 2, 3)) t)
    union all
    (select format('actions of %s', t) from (
      (select agent_id, action_id, count(*), coalesce(sum(cost_raw) filter (where status = 'success'), 0)
       from charges where action_id is not null group by 1, 2)
      except
      (select agent_id, action_id, calls, spent_raw from action_totals)) t)`;
  const { balances, holds, teamCounters } = await readLedger(sql, agents);
  const held = balances.flatMap((balance, i) => {
    const { policies = [], teamPolicies = [], accountId } = balance?.rules ?? {};
    const mine = holds.filter(({ agentId }) => agentId === agents[i]);
    const team = balances.flatMap((other, j) =>
      other?.rules.accountId === accountId ? [agents[j]] : [],
    );
    const ours = holds.filter(({ agentId }) => team.includes(agentId));
    return [
      ...policies.map((policy) => ({ policy, of: mine, by: balance?.state.counters ?? [] })),
      ...teamPolicies.map((policy) => ({ policy, of: ours, by: teamCounters })),
    ];
  });
  const wrong = held.flatMap(({ policy, of, by }) => {
    const open = of.filter(({ facts }) => matches(policy, facts));
    const says = by.find(({ policyId }) => policyId === policy.id)?.heldRaw ?? 0n;
    const is = open.reduce((sum, { amountRaw }) => sum + amountRaw, 0n);
    return says === is ? [] : [`policy ${policy.id}: held ${says}, open holds ${is}`];
  });
  return [...sums.map(({ detail }) => detail), ...wrong];
}

/** No money, no policies, nothing bought: agents and their keys alone are left. */
export async function clearLedger(sql: Sql): Promise<void> {
  await sql`truncate postings, holds, sessions, session_journal, policies, team_counters, charges,
    spend_totals, action_totals, events, invalidations, credit_thresholds, reservations, payouts restart identity`;
  await sql`update agent_funds set version = 0, rules_version = 0, spendable_raw = 0, held_raw = 0,
    credited_raw = 0, consumed_raw = 0, counters = null,
    wallet_raw = 0, promised_raw = 0`;
  await sql`update agents set status = 'active', suspended_reason = null`;
}
