import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../src/kernel/log.ts';
import { openDatabase } from '../src/platform/postgres/database.ts';
import type { DatabaseTarget, Sql } from '../src/platform/postgres/sql.ts';
import { liveLedger, loadLedger } from '../test/support/ledger-load.ts';
import { seedAgents } from '../test/support/ledger-world.ts';
import { type BenchRow, benchRow } from './bench-row.ts';
import { capAgents } from './cap-agents.ts';
import { databaseCpuOf } from './cpu.ts';
import { measureMetered } from './gateway.bench.ts';

const AGENTS = 100;
const ROUNDS = 3;
const FOR_MS = 3_000;
/** What the database grows by: agents, and postings of each. */
const GROWN = { agents: 10_000, postings: 100, charges: 50 };

/** CPU of this process and of the database, an operation. */
type Figures = Readonly<Record<'ledger' | 'capped' | 'chat', number>>;

/**
 * P7: the CPU of an operation and of a metered chat completion, this process and PostgreSQL together, on a
 * database with a million ledger rows of ten thousand agents over one that is nearly empty; both with ten policies
 * an agent, too.
 */
export async function benchGrowth(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-growth-'));
  try {
    await using database = await openDatabase({
      database: { kind: 'directory', path: join(directory, 'db') },
      log: silentLog,
      connections: 4,
    });
    await database.migrate();
    const { sql, target } = database;
    const small = await measure(sql, target, 'small');
    await grow(sql);
    const grown = await measure(sql, target, 'grown');
    const ratio = (name: keyof Figures) => grown[name] / small[name];
    return [
      ...rows('operation', small.ledger, grown.ledger, ratio('ledger')),
      ...rows('operation, 10 policies', small.capped, grown.capped, ratio('capped')),
      ...rows('chat completion', small.chat, grown.chat, ratio('chat')),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const rows = (what: string, small: number, grown: number, ratio: number): BenchRow[] => [
  benchRow('P7', `${what}, CPU here and there, small`, small, 'µs'),
  benchRow('P7', `${what}, CPU here and there, grown`, grown, 'µs'),
  benchRow('P7', `${what}, grown over small`, ratio, '×', `bar <= 1.2: ${verdict(ratio <= 1.2)}`),
];

const verdict = (holds: boolean): string => (holds ? 'held' : 'MISSED');

async function measure(sql: Sql, target: DatabaseTarget, name: string): Promise<Figures> {
  const databaseCpu = await databaseCpuOf(sql);
  const load = async (capped: boolean): Promise<number> => {
    await using ledger = liveLedger(sql, `growth ${name} ${capped}`);
    const agents = await seedAgents(sql, AGENTS);
    if (capped) await capAgents(sql, agents);
    for (const { agentId } of agents) {
      const reference = `growth ${agentId}`;
      await ledger.credit({ agentId, amountRaw: 1_000_000_000n, reference });
    }
    const found: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const prefix = `${name}-${capped}-${round}`;
      const before = await databaseCpu();
      const result = await loadLedger(ledger, agents, { callers: 64, forMs: FOR_MS, prefix });
      const theirs = ((await databaseCpu()) - before) / result.operations;
      // What runs first in a process is compiled while it is measured.
      if (round > 0) found.push(result.cpuMicros + theirs);
    }
    return median(found);
  };
  const [agent] = await seedAgents(sql, 1);
  const bare = await load(false);
  const capped = await load(true);
  if (agent === undefined) throw new Error('no agent was made');
  const chat = await measureMetered({ target, databaseCpu, ...agent });
  return { ledger: bare, capped, chat: chat.cpuMicros + chat.databaseMicros };
}

/** History that adds up: each agent was given its money in so many pieces, and has bought from it before. */
async function grow(sql: Sql): Promise<void> {
  const { agents, postings, charges } = GROWN;
  await sql.unsafe(`
    insert into developers (account_id, wallet)
      select 'grown_' || i, '0xgrown' || i from generate_series(1, ${agents / 5}) as g(i);
    insert into agents (account_id, name, status, funding_mode, max_rate_bps, expiry_seconds)
      select 'grown_' || (i / 5 + 1), 'grown ' || i, 'active', 'wallet', 0, 3600
      from generate_series(0, ${agents - 1}) as g(i);
    insert into agent_funds (agent_id, account_id, version, spendable_raw, credited_raw)
      select id, account_id, ${postings}, ${postings}, ${postings} from agents where name like 'grown %';
    insert into agent_keys (agent_id, digest, prefix, permissions)
      select id, 'grown ' || id, 'svc_', 'read_write' from agents where name like 'grown %';
    insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
      select 'credit:grown ' || a.id || ' ' || g.i, a.id, 'funding.credit', 1, array['funding'],
        array['agent:' || a.id || ':spendable'], array[1]
      from agents a, generate_series(1, ${postings}) as g(i) where a.name like 'grown %';
    insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw, usage,
        created_at)
      select a.id, 'grown', 'gateway://acme/x', 'acme', 'POST', 'success', 1, '{}',
        now() - g.i * interval '1 hour'
      from agents a, generate_series(1, ${charges}) as g(i) where a.name like 'grown %';
    insert into spend_totals (agent_id, day, model, rail, calls, failed, cost_raw)
      select agent_id, created_at::date, '', '', count(*), 0, sum(cost_raw) from charges
      where posting_id = 'grown' group by 1, 2;`);
  await sql`vacuum analyze`;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
