import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { agentCreated } from '../../webhooks/event.ts';
import { ownerWalletOf } from '../developers/owner-wallet.ts';
import { agentErrors } from '../errors.ts';
import type { Invalidation } from '../keys/invalidation.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import { type Delegation, delegate } from '../wallets/delegation.ts';
import { type ManagedWallets, walletReference } from '../wallets/managed-wallets.ts';
import { type Agent, retryDelayMs } from './agent.ts';
import {
  activateAgent,
  type Provisioned,
  postponeProvision,
  saveWallet,
} from './provision-store.ts';

export type ProvisionDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly invalidations: Invalidations;
  /** Service that holds the agents' wallets. Undefined: none is configured. */
  readonly wallets: ManagedWallets | undefined;
  /** Delegation of borrowing to the facilitator. Undefined: no facilitator key is configured. */
  readonly delegation: Delegation | undefined;
  /** Gives a new agent its welcome credit, once for each account. Undefined: there is none. */
  readonly welcome?: ((agent: Pick<Agent, 'id' | 'accountId'>) => Promise<void>) | undefined;
};

/**
 * Gives a pending agent its wallet and, with a credit limit, its delegation, and makes it active. Each step continues from the
 * result of an earlier attempt; a failure schedules the next attempt and throws.
 */
export async function provisionAgent(
  deps: ProvisionDeps,
  agent: Agent,
  attempts: number,
): Promise<void> {
  const { wallets, delegation } = deps;
  if (wallets === undefined) throw agentErrors.featuresUnavailable();
  if (delegation === undefined) throw agentErrors.creationUnavailable();
  const walletAddress = await attempt(deps, agent, attempts, 'managed wallet', async () => {
    const address = await wallets.provide(walletReference(agent));
    await saveWallet(deps.sql, agent.id, address);
    return address;
  });
  // Before the agent is active: an attempt that dies in between is made again, and credits no second time.
  await deps.welcome?.(agent);
  const operatorExpiry = nowSeconds(deps.clock) + agent.expirySeconds;
  const delegationTxHash = await attempt(deps, agent, attempts, 'delegation', () =>
    delegate(delegation, agent, walletAddress, operatorExpiry),
  );
  await activate(deps, agent, { walletAddress, operatorExpiry, delegationTxHash });
}

async function attempt<T>(
  deps: ProvisionDeps,
  agent: Agent,
  attempts: number,
  step: 'managed wallet' | 'delegation',
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    deps.log.warn({ err: error, agentId: agent.id, attempts, step }, 'provisioning failed');
    const nextAt = new Date(
      deps.clock.now() + retryDelayMs(attempts, ACCOUNT_LIMITS.provisioning.retry),
    );
    await postponeProvision(deps.sql, agent.id, nextAt);
    throw step === 'delegation'
      ? agentErrors.delegationFailed(agent.id)
      : agentErrors.provisioningFailed(agent.id);
  }
}

async function activate(
  deps: ProvisionDeps,
  agent: Agent,
  provisioned: Provisioned,
): Promise<void> {
  const { accountId, id: agentId, name, fundingMode } = agent;
  const notice: Invalidation = { kind: 'agent_changed', agentId };
  await deps.invalidations.commit(notice, async (tx) => {
    const now = new Date(deps.clock.now());
    // Another process was faster, or the developer has closed the agent meanwhile: then there is no event to write.
    if (!(await activateAgent(tx, agentId, provisioned, now))) return undefined;
    const actorWallet = await ownerWalletOf(tx, accountId);
    const { walletAddress, delegationTxHash } = provisioned;
    await insertEvents(tx, [
      agentCreated(
        { accountId, actorWallet },
        { agentId, name, walletAddress, fundingMode, delegationTxHash },
      ),
    ]);
    return 'activated';
  });
}
