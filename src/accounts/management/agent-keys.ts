import type { Clock } from '../../kernel/clock.ts';
import { agentKeyPrefix, newAgentKey } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import {
  type BudgetRequest,
  type BudgetView,
  endKeyBudget,
  readKeyBudgets,
  setKeyBudget,
} from '../../spend/limits/key-budgets.ts';
import { keyCreated, keyRotated } from '../../webhooks/event.ts';
import type { Agent } from '../agents/agent.ts';
import { requireAgent, requireLockedAgent } from '../agents/require-agent.ts';
import { requireRole } from '../developers/require-role.ts';
import { agentErrors, credentialErrors, keyErrors } from '../errors.ts';
import {
  findAgentKeys,
  insertAgentKey,
  type NewAgentKey,
  revokeAgentKey,
} from '../keys/agent-key-store.ts';
import type { Invalidation } from '../keys/invalidation.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import type { AgentKey, Issued, Key, KeyOwner, KeyRequest, PromptCaching } from '../keys/key.ts';
import type { KeyUse } from '../keys/key-use.ts';
import { keyedHash } from '../keys/keyed-hash.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';

export type AgentKeyRequest = Omit<KeyRequest, 'expiresAt'> & {
  readonly promptCaching?: PromptCaching | undefined;
  readonly budget?: BudgetRequest | undefined;
};

/** A key with its budget. `budget` is null when only the agent's limits apply. */
export type Budgeted<T> = T & { readonly budget: BudgetView | null };

export type AgentKeys = ReturnType<typeof createAgentKeys>;

type Deps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly hmacSecret: string;
  readonly invalidations: Invalidations;
  readonly keyUse: KeyUse;
  /** Returns the database's time in Unix milliseconds. */
  readonly now: () => number;
};

/**
 * Creates the functions for an agent's runtime keys. At most `ACCOUNT_LIMITS.key.perAgent` keys work at once, even under concurrent
 * requests; a revoked key is refused from the next hold on.
 */
export function createAgentKeys(deps: Deps) {
  const { sql, invalidations } = deps;

  /** Checked before a change locks the balance, so that the balance of another developer's agent is never locked. */
  const requireOwn = ({ accountId }: KeyOwner, agentId: number) =>
    requireAgent(sql, { agentId, accountId });

  return {
    /** Issues a key. When the budget of the request cannot be set, no key is issued either. */
    async mint(
      owner: KeyOwner,
      agentId: number,
      wanted: AgentKeyRequest,
    ): Promise<Budgeted<Issued<AgentKey>>> {
      await requireOwn(owner, agentId);
      // The cached balance of an agent includes its keys, so each process must reload it before the new key is used.
      return invalidations.commit({ kind: 'agent_changed', agentId }, async (tx) => {
        const agent = await requireOpenAgent(tx, owner, agentId);
        const active = await findAgentKeys(tx, agentId);
        if (active.length >= ACCOUNT_LIMITS.key.perAgent) {
          throw agentErrors.limitExceeded(
            ACCOUNT_LIMITS.key.perAgent,
            'active keys for each agent',
          );
        }
        const issued = await issueFirst(deps, tx, { agent, owner }, wanted);
        await insertEvents(tx, [keyCreated(origin(owner), named(issued.record, agent))]);
        return withBudget(deps, tx, agent, issued);
      });
    },

    async list(owner: KeyOwner, agentId: number): Promise<Budgeted<AgentKey>[]> {
      const agent = await requireAgent(sql, { agentId, accountId: owner.accountId });
      await deps.keyUse.flush();
      const keys = await findAgentKeys(sql, agentId);
      const budgets = await readKeyBudgets(sql, agentOf(agent), deps.now());
      return keys.map((key) => ({ ...key, budget: budgets.get(key.rootId) ?? null }));
    },

    async revoke(owner: KeyOwner, agentId: number, keyId: number): Promise<void> {
      await requireOwn(owner, agentId);
      await invalidations.commit(revoked(agentId, keyId), async (tx) => {
        const agent = await requireLockedAgent(tx, { agentId, accountId: owner.accountId });
        const key = await requireRevoked(deps, tx, agentId, keyId);
        // A budget belongs to a key and its rotations, of which only the last works: no other key could spend it.
        await endKeyBudget(tx, agentOf(agent), key.rootId, deps.now());
        return key;
      });
    },

    /**
     * Revokes the old key and issues its successor in one commit, without a gap or an overlap. The successor shares the old
     * key's budget, including the amount already spent.
     */
    async rotate(
      owner: KeyOwner,
      agentId: number,
      keyId: number,
      wanted: AgentKeyRequest,
    ): Promise<Budgeted<Issued<AgentKey>>> {
      await requireOwn(owner, agentId);
      return invalidations.commit(revoked(agentId, keyId), async (tx) => {
        const agent = await requireOpenAgent(tx, owner, agentId);
        const old = await requireRevoked(deps, tx, agentId, keyId);
        const successor = await issueSuccessor(deps, tx, { agentId, owner, old }, wanted);
        await insertEvents(tx, [keyRotated(origin(owner), named(successor.record, agent), keyId)]);
        return withBudget(deps, tx, agent, successor);
      });
    },
  };
}

/**
 * Locks the row of an agent that is not closed, so that only one request at a time counts and changes its keys. A member who was
 * removed since the request began is refused: the removal locks the balances of all open agents, as this transaction does.
 */
async function requireOpenAgent(tx: Queryable, owner: KeyOwner, agentId: number): Promise<Agent> {
  const agent = await requireLockedAgent(tx, { agentId, accountId: owner.accountId });
  if (agent.status === 'closed') throw credentialErrors.accountClosed();
  await requireRole(tx, owner, 'work');
  return agent;
}

const agentOf = ({ id: agentId, accountId }: Agent) => ({ agentId, accountId });

async function withBudget(
  deps: Deps,
  tx: Queryable,
  agent: Agent,
  issued: Issued<AgentKey>,
): Promise<Budgeted<Issued<AgentKey>>> {
  const budgets = await readKeyBudgets(tx, agentOf(agent), deps.now());
  return { ...issued, budget: budgets.get(issued.record.rootId) ?? null };
}

async function requireRevoked(
  deps: Deps,
  tx: Queryable,
  agentId: number,
  keyId: number,
): Promise<AgentKey> {
  const old = await revokeAgentKey(tx, agentId, keyId, new Date(deps.clock.now()));
  if (old === undefined) throw keyErrors.notFound();
  return old;
}

/** Issues the first key of a new line of rotated keys, with its budget. */
async function issueFirst(
  deps: Deps,
  tx: Queryable,
  { agent, owner }: { readonly agent: Agent; readonly owner: KeyOwner },
  wanted: AgentKeyRequest,
): Promise<Issued<AgentKey>> {
  const issued = await issue(deps, tx, {
    agentId: agent.id,
    label: wanted.label ?? null,
    permissions: wanted.permissions ?? 'read_write',
    promptCaching: wanted.promptCaching ?? 'off',
    rotatedFrom: null,
    rootId: null,
    createdBy: owner.wallet,
  });
  if (wanted.budget !== undefined) {
    await setKeyBudget(tx, agentOf(agent), issued.record.rootId, wanted.budget, deps.now());
  }
  return issued;
}

/** Issues the successor of a key. Absent members are copied from the old key. */
const issueSuccessor = (
  deps: Deps,
  tx: Queryable,
  { agentId, old, owner }: { agentId: number; old: AgentKey; owner: KeyOwner },
  wanted: AgentKeyRequest,
): Promise<Issued<AgentKey>> =>
  issue(deps, tx, {
    agentId,
    label: wanted.label ?? old.label,
    permissions: wanted.permissions ?? old.permissions,
    promptCaching: wanted.promptCaching ?? old.promptCaching,
    rotatedFrom: old.id,
    rootId: old.rootId,
    createdBy: owner.wallet,
  });

async function issue(
  deps: Deps,
  tx: Queryable,
  key: Omit<NewAgentKey, 'digest' | 'prefix'>,
): Promise<Issued<AgentKey>> {
  const secret = newAgentKey(deps.random);
  const record = await insertAgentKey(tx, {
    ...key,
    digest: keyedHash(deps.hmacSecret, secret),
    prefix: agentKeyPrefix(secret),
  });
  return { record, secret };
}

const revoked = (agentId: number, keyId: number): Invalidation => ({
  kind: 'agent_key_revoked',
  agentId,
  keyId,
});
const origin = (owner: KeyOwner) => ({ accountId: owner.accountId, actorWallet: owner.wallet });
const named = (key: Key, agent: Agent) => ({
  keyId: key.id,
  keyPrefix: key.prefix,
  label: key.label,
  agent: { agentId: agent.id, walletAddress: agent.walletAddress },
});
