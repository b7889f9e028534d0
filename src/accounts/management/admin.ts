import { unreachable } from '../../kernel/assert.ts';
import { nowSeconds } from '../../kernel/clock.ts';
import { closeAgent } from '../../payments/payouts/close-agent.ts';
import { readBalance } from '../../payments/reservations/read-balance.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { type Agent, isDelegationActive, type WantedStatus } from '../agents/agent.ts';
import { findAgent, findAgentByWallet, findAllAgents } from '../agents/agent-store.ts';
import { changeStatus } from '../agents/change-status.ts';
import { actOf, noteAct, type Operator } from '../audit/admin-acts.ts';
import { adminErrors, credentialErrors } from '../errors.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import type { AgentsDeps } from './agents.ts';

const MAX_ROW_ID = 2_147_483_647;

export type Admin = ReturnType<typeof createAdmin>;

/** Creates the operator's reads and changes of any account's agents. */
export function createAdmin(deps: AgentsDeps) {
  const { sql } = deps;

  const requireAgent = (ref: string) => requireByRef(sql, ref);

  return {
    /** Returns one page of all agents by id; `nextCursor` is null on the last page. */
    async list(page: { readonly cursor: number; readonly limit: number }) {
      const limit = Math.min(page.limit, ACCOUNT_LIMITS.agent.page);
      const found = await findAllAgents(sql, page.cursor, limit);
      const agents = found.slice(0, limit);
      const available = await deps.spendState.available(agents.map((agent) => agent.id));
      const nowSec = nowSeconds(deps.clock);
      return {
        agents: agents.map((agent) => overview(agent, available.get(agent.id) ?? 0n, nowSec)),
        nextCursor: found.length > limit ? (agents.at(-1)?.id ?? null) : null,
      };
    },

    async setStatus(ref: string, to: WantedStatus, by?: Operator) {
      const agent = await requireAgent(ref);
      const act = actOf(by, 'agent.status', agent.id, { from: agent.status, to });
      const { id, status } = await changeStatus(deps, agent, to, 'admin_manual', (tx) =>
        noteAct(tx, act),
      );
      return { id, status };
    },

    async balance(ref: string) {
      const agent = await requireAgent(ref);
      return { agentId: agent.id, status: agent.status, ...(await readBalance(deps, agent)) };
    },

    async close(ref: string, by?: Operator) {
      const agent = await requireAgent(ref);
      return closeAgent(deps, agent, (tx) => noteAct(tx, actOf(by, 'agent.close', agent.id)));
    },

    /** Adds to an agent's balance, once for each reference: a repeated request adds nothing. */
    async credit(ref: string, amountRaw: bigint, reference: string, by?: Operator) {
      const agent = await requireAgent(ref);
      if (agent.status === 'closed') throw credentialErrors.accountClosed();
      const detail = { amountRaw: amountRaw.toString(), reference };
      const act = actOf(by, 'agent.credit', agent.id, detail);
      const verdict = await deps.ledger.credit({ agentId: agent.id, amountRaw, reference, act });
      switch (verdict.kind) {
        case 'credited':
        case 'already_credited': {
          const available = await deps.spendState.available([agent.id]);
          const balance = (available.get(agent.id) ?? 0n).toString();
          return {
            agentId: agent.id,
            reference,
            amountRaw: amountRaw.toString(),
            credited: verdict.kind === 'credited',
            balance,
            spendableRaw: balance,
          };
        }
        case 'conflict':
          throw adminErrors.referenceConflict();
        case 'too_large':
          throw adminErrors.creditTooLarge(amountRaw.toString());
        case 'agent_unknown':
          throw adminErrors.notFound();
        default:
          return unreachable(verdict);
      }
    },
  };
}

/** Returns an agent by its number or its wallet. Throws when there is none. */
async function requireByRef(sql: Sql, ref: string): Promise<Agent> {
  const agent = await findByRef(sql, ref);
  if (agent === undefined) throw adminErrors.notFound();
  return agent;
}

function findByRef(sql: Sql, ref: string): Promise<Agent | undefined> {
  if (/^0x[0-9a-fA-F]{40}$/.test(ref)) return findAgentByWallet(sql, ref.toLowerCase());
  if (!/^\d{1,15}$/.test(ref)) throw adminErrors.invalidAddress();
  const agentId = Number(ref);
  return agentId > MAX_ROW_ID ? Promise.resolve(undefined) : findAgent(sql, { agentId });
}

const overview = (agent: Agent, availableRaw: bigint, nowSec: number) => ({
  // The id is a string in this list only, as the published API has it.
  id: String(agent.id),
  agentId: agent.id,
  name: agent.name,
  accountId: agent.accountId,
  managedWalletAddress: agent.walletAddress,
  status: agent.status,
  balance: availableRaw.toString(),
  creditLimit: agent.borrowLimitRaw?.toString() ?? null,
  creditUsed: '0',
  activeLoanCount: 0,
  delegationActive: isDelegationActive(agent, nowSec),
  createdAt: agent.createdAt.toISOString(),
});
