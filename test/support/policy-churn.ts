import { createInvalidations } from '../../src/accounts/keys/invalidations.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createLedger, type LiveLedger } from '../../src/ledger/engine/ledger.ts';
import type { Hold } from '../../src/ledger/rules/requests.ts';
import { createBalanceStore } from '../../src/ledger/store/balances.ts';
import { type PolicyJson, policyOf } from '../../src/ledger/store/policy-row.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { dropCounter, seedCounter } from '../../src/spend/limits/counter-store.ts';
import { addPolicy } from './policies.ts';
import type { RacingAgent } from './spend-race.ts';

const TASKS = ['plan', 'write', 'check', undefined] as const;
const HOSTS = ['acme', 'api.acme.example', 'other.example', null] as const;

export type Churn = {
  held: number;
  refused: number;
  settled: number;
  edits: number;
};

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;

/** A process of its own, as far as the database can tell. */
export const ledgerOf = (sql: Sql, nodeId: string): LiveLedger =>
  createLedger({
    store: createBalanceStore({ sql, node: { nodeId, leaseEpoch: 1 } }),
    clock: systemClock,
    log: silentLog,
  });

/** Sets money aside for whatever it likes, settles it or gives it back, until the time is over; leaves nothing open. */
export async function spendAtRandom(
  ledger: LiveLedger,
  agents: readonly RacingAgent[],
  name: string,
  until: number,
  churn: Churn,
): Promise<void> {
  const open: Hold[] = [];
  const close = async (hold: Hold) => {
    const actualRaw = Math.random() < 0.4 ? 0n : BigInt(Math.floor(Math.random() * 12));
    const settled = { hold, actualRaw, account: 'gateway', source: 'acme' } as const;
    const charge = (costRaw: bigint) => chargeOf(hold, costRaw);
    await ledger.settle({ ...settled, ...(actualRaw > 0n && { charge }) });
    churn.settled++;
  };
  for (let i = 0; performance.now() < until; i++) {
    const taskId = pick(TASKS);
    const agent = pick(agents);
    const verdict = await ledger.hold({
      spender: { ...agent, ...(taskId && { taskId }) },
      holdId: `${name}-${i}`,
      amountRaw: BigInt(1 + Math.floor(Math.random() * 10)),
      destination: { host: pick(HOSTS), payee: null },
    });
    if (verdict.kind === 'refused') churn.refused++;
    else {
      churn.held++;
      open.push(verdict.hold);
    }
    const [oldest] = open;
    if (oldest !== undefined && (open.length > 3 || Math.random() < 0.6)) {
      open.shift();
      await close(oldest);
    }
  }
  for (const hold of open) await close(hold);
}

const chargeOf = (hold: Hold, costRaw: bigint) => ({
  agentId: hold.agentId,
  keyId: hold.facts.keyRootId,
  targetUrl: 'x',
  method: 'POST',
  targetHost: hold.facts.host ?? 'none',
  status: 'success' as const,
  costRaw,
  model: null,
  rail: null,
  usage: {},
  taskId: hold.facts.taskId,
  actionId: null,
  customerId: null,
  sessionId: null,
  payee: hold.facts.payee,
  responseStatusCode: 200,
  latencyMs: 1,
  overheadMs: null,
  upstreamMs: null,
});

/** Makes, moves, resets and revokes caps of agents and of their team, until the time is over. */
export async function editAtRandom(
  sql: Sql,
  account: { readonly accountId: string; readonly agents: readonly RacingAgent[] },
  until: number,
  churn: Churn,
): Promise<void> {
  const { accountId, agents } = account;
  const invalidations = createInvalidations({ sql, log: silentLog });
  const living: { id: number; agentId: number | null }[] = [];
  while (performance.now() < until) {
    churn.edits++;
    const agentId = Math.random() < 0.4 ? null : pick(agents).agentId;
    if (living.length < 12 && Math.random() < 0.6) {
      living.push({
        id: await addPolicy(sql, { accountId, agentId, ...randomCap(agents) }),
        agentId,
      });
      continue;
    }
    const one = living.splice(Math.floor(Math.random() * living.length), 1)[0];
    if (one === undefined) continue;
    const isOver = Math.random() < 0.5;
    const change = async (tx: Parameters<Parameters<typeof invalidations.commit>[1]>[0]) => {
      const [row] = await tx<PolicyJson[]>`
        update policies set limit_raw = limit_raw + 5, starts_at = now(),
          revoked_at = case when ${isOver} then now() end
        where id = ${one.id} returning *`;
      if (row === undefined) throw new Error('no such policy');
      const owner = { accountId, agentId: one.agentId };
      if (isOver) await dropCounter(tx, policyOf(row));
      else await seedCounter(tx, policyOf(row), owner, Date.now(), Date.now());
      return true;
    };
    if (one.agentId === null) await invalidations.commitTeam(accountId, change);
    else await invalidations.commit({ kind: 'agent_changed', agentId: one.agentId }, change);
    if (!isOver) living.push(one);
  }
}

function randomCap(agents: readonly RacingAgent[]) {
  const limitRaw = BigInt(20 + Math.floor(Math.random() * 200));
  const window = pick([
    { windowKind: 'rolling', windowSeconds: 60 },
    { windowKind: 'calendar', calendarUnit: 'day' },
    { windowKind: 'once' },
  ] as const);
  const match = pick([
    { kind: 'task', matchKey: pick(['plan', 'write', 'check']) },
    { kind: 'api', matchKey: pick(['acme', '.acme.example', 'other.example']) },
    { kind: 'key', matchKey: String(pick(agents).keyId) },
    { kind: 'session' },
  ] as const);
  return { limitRaw, ...window, ...match };
}
