import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAgent } from '../../../src/accounts/agents/agent-store.ts';
import { changeStatus } from '../../../src/accounts/agents/change-status.ts';
import { createAgent } from '../../../src/accounts/agents/create-agent.ts';
import { pollInvalidations } from '../../../src/accounts/keys/invalidations.ts';
import { closeAgent } from '../../../src/payments/payouts/close-agent.ts';
import { readBalance } from '../../../src/payments/reservations/read-balance.ts';
import { accountsWorld, agentWish } from '../../support/accounts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { DESTINATION } from '../../support/spending.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => db[Symbol.asyncDispose]());

/** An agent with 100 raw units, and the ledger that keeps them. */
async function funded(name: string) {
  const ledger = createFakeLedger();
  const balance = `0x${77n.toString(16).padStart(64, '0')}`;
  const world = accountsWorld(db.sql, { ledger, rpc: { call: async () => balance } });
  const { accountId } = await world.owner(name);
  const agent = await createAgent(world.agentsDeps, accountId, agentWish(name));
  await ledger.credit({ agentId: agent.id, amountRaw: 100n, reference: 'start' });
  const hold = async (amountRaw: bigint) => {
    const spender = { agentId: agent.id };
    const holdId = `hold-${name}`;
    const verdict = await ledger.hold({ spender, holdId, amountRaw, destination: DESTINATION });
    if (verdict.kind === 'refused') throw new Error(verdict.refusal.reason);
    return verdict.hold;
  };
  return { ledger, world, agent, hold };
}

describe('closing', () => {
  it('closing an agent takes out its balance once, and pays out nothing that no deposit backs', async () => {
    const { ledger, world, agent } = await funded('emptied');
    const first = await closeAgent(world.agentsDeps, agent);
    expect(first).toMatchObject({ status: 'closed', transferTxHash: null, usdcTransferred: null });
    expect(await closeAgent(world.agentsDeps, agent)).toEqual(first);
    expect(await ledger.funds(agent.id)).toEqual({ spendableRaw: 0n, heldRaw: 0n });
  });

  it('closing an agent leaves its open holds alone, and the next close takes what they give back', async () => {
    const { ledger, world, agent, hold } = await funded('in flight');
    const open = await hold(40n);
    await closeAgent(world.agentsDeps, agent);
    expect(await ledger.funds(agent.id)).toEqual({ spendableRaw: 0n, heldRaw: 40n });
    await ledger.settle({ hold: open, actualRaw: 15n, account: 'gateway', source: 'test' });
    expect(await ledger.funds(agent.id)).toEqual({ spendableRaw: 25n, heldRaw: 0n });
    await closeAgent(world.agentsDeps, agent);
    expect(await ledger.funds(agent.id)).toEqual({ spendableRaw: 0n, heldRaw: 0n });
  });
});

describe('a status change', () => {
  it('a status change that was decided on an older status is refused as a conflict', async () => {
    const { world, agent } = await funded('overtaken');
    const deps = world.agentsDeps;
    await changeStatus(deps, agent, 'suspended', 'developer_manual');
    await expect(changeStatus(deps, agent, 'suspended', 'policy:1')).rejects.toMatchObject({
      status: 409,
      error: 'status_conflict',
    });
    expect(await findAgent(db.sql, { agentId: agent.id })).toMatchObject({
      suspendedReason: 'developer_manual',
    });
  });

  it('a status change raises the rules version of the agent’s balance, so that no hold is decided on old rules', async () => {
    const { world, agent } = await funded('fenced');
    const rules = async () => {
      const [row] = await db.sql`
        select rules_version, version from agent_funds where agent_id = ${agent.id}`;
      return row?.rules_version as bigint;
    };
    const before = await rules();
    await changeStatus(world.agentsDeps, agent, 'suspended', 'developer_manual');
    expect(await rules()).toBe(before + 1n);
    await closeAgent(world.agentsDeps, agent);
    expect(await rules()).toBe(before + 2n);
  });

  it('suspending an agent tells other processes to close its sockets, and resuming it does not', async () => {
    const { world, agent } = await funded('sockets');
    const other = accountsWorld(db.sql);
    const heard: unknown[] = [];
    const poll = pollInvalidations(other);
    await poll.tick();
    other.invalidations.subscribe((notice) => heard.push(notice));
    const stopped = await changeStatus(world.agentsDeps, agent, 'suspended', 'developer_manual');
    await changeStatus(world.agentsDeps, stopped, 'active', 'developer_manual');
    await poll.tick();
    expect(heard).toEqual([
      { kind: 'agent_stopped', agentId: agent.id },
      { kind: 'agent_changed', agentId: agent.id },
    ]);
  });
});

describe('a balance', () => {
  it('a balance shows the spendable amount without holds, and the wallet’s amount on chain', async () => {
    const { world, agent, hold } = await funded('balance');
    await hold(40n);
    expect(await readBalance(world.agentsDeps, agent)).toMatchObject({
      spendableRaw: '60',
      balance: '60',
      // What is held for work in flight is no payment that waits for the chain.
      pendingSettlementsRaw: '0',
      heldUnspentRaw: '0',
      walletUsdcRaw: '77',
    });
  });
});
