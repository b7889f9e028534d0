import { insertAgentFunds } from '../../src/ledger/store/agent-funds.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';

type SeededAgent = { readonly agentId: number; readonly keyId: number };

let wallets = 0;

/** One agent of a developer of its own. */
export async function seedAgent(sql: Sql): Promise<SeededAgent> {
  const [agent] = await seedAgents(sql, 1);
  if (agent === undefined) throw new Error('no agent was made');
  return agent;
}

/** Agents of one developer, each active, with one key and an empty balance. */
export async function seedAgents(sql: Sql, count: number): Promise<readonly SeededAgent[]> {
  const seed = `${process.pid}_${++wallets}`;
  const accountId = `acct_${seed}`;
  await sql`insert into developers (account_id, wallet) values (${accountId}, ${`0x${seed}`})`;
  const agents = [];
  for (let i = 0; i < count; i++) {
    const [agent] = await sql<{ id: number }[]>`
      insert into agents (account_id, name, status, funding_mode, max_rate_bps, expiry_seconds)
      values (${accountId}, ${`agent ${i}`}, 'active', 'wallet', 0, 3600) returning id`;
    const agentId = agent?.id ?? 0;
    await insertAgentFunds(sql, { agentId, accountId });
    const [key] = await sql<{ id: number }[]>`
      insert into agent_keys (agent_id, digest, prefix, permissions)
      values (${agentId}, ${`digest ${seed} ${i}`}, 'svc_', 'read_write') returning id`;
    agents.push({ agentId, keyId: key?.id ?? 0 });
  }
  return agents;
}
