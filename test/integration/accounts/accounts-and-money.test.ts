import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createLedger } from '../../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { accountsWorld, agentWish } from '../../support/accounts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { DESTINATION } from '../../support/spending.ts';

let db: TestDatabase;
const ledgers: AsyncDisposable[] = [];
beforeAll(async () => {
  db = await testDatabase(12);
});
afterAll(async () => {
  for (const ledger of ledgers) await ledger[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** One process: its own ledger, actors and caches on the one database. No timer polls for it. */
function startProcess(nodeId: string) {
  const store = createBalanceStore({ sql: db.sql, node: { nodeId, leaseEpoch: 1 } });
  const ledger = createLedger({ store, clock: systemClock, log: silentLog });
  ledgers.push(ledger);
  const world = accountsWorld(db.sql, { ledger, clock: new ManualClock(systemClock.now()) });
  return { ledger, world };
}

let holds = 0;
const hold = (ledger: ReturnType<typeof createLedger>, agentId: number, keyId: number) =>
  ledger.hold({
    spender: { agentId, keyId },
    holdId: `accounts-${++holds}`,
    amountRaw: 1n,
    destination: DESTINATION,
  });

/** An agent with money and a key, already known to the balance actors of two processes. */
async function knownToBoth(name: string) {
  const [here, there] = [startProcess(`${name} here`), startProcess(`${name} there`)];
  const owner = await here.world.owner(name);
  const { agentId } = await here.world.agents.create(owner.accountId, agentWish(name));
  const { record } = await here.world.agentKeys.mint(owner, agentId, {});
  await here.world.admin.credit(String(agentId), 1_000n, `start-${agentId}`);
  for (const { ledger } of [here, there]) {
    expect(await hold(ledger, agentId, record.id)).toMatchObject({ kind: 'held' });
  }
  return { here, there, owner, agentId, keyId: record.id };
}

const refused = (reason: string) => ({ kind: 'refused', refusal: { reason } });

describe('money and accounts', () => {
  it('concurrent credits with the same reference in two processes credit the agent once', async () => {
    const { here, there, agentId } = await knownToBoth('credits');
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? here : there).world.admin.credit(String(agentId), 500n, 'the same'),
      ),
    );
    expect(answers.filter(({ credited }) => credited)).toHaveLength(1);
    expect(await here.world.admin.balance(String(agentId))).toMatchObject({
      spendableRaw: '1498',
    });
    expect(await here.ledger.funds(agentId)).toMatchObject({ spendableRaw: 1_498n, heldRaw: 2n });
    await expect(there.world.admin.credit(String(agentId), 501n, 'the same')).rejects.toMatchObject(
      { status: 409, error: 'reference_conflict' },
    );
  });

  it('a revoked agent key is refused its very next hold by a process that was not notified', async () => {
    const { here, there, owner, agentId, keyId } = await knownToBoth('revoked');
    await here.world.agentKeys.revoke(owner, agentId, keyId);
    for (const { ledger } of [there, here]) {
      expect(await hold(ledger, agentId, keyId)).toMatchObject(refused('key_revoked'));
    }
  });

  it('a new agent key can spend at once in a process that was not notified', async () => {
    const { here, there, owner, agentId } = await knownToBoth('minted');
    const { record } = await here.world.agentKeys.mint(owner, agentId, {});
    for (const { ledger } of [there, here]) {
      expect(await hold(ledger, agentId, record.id)).toMatchObject({ kind: 'held' });
    }
  });

  it('a suspended agent is stopped, and resumed again, in a process that was not notified', async () => {
    const { here, there, owner, agentId, keyId } = await knownToBoth('suspended');
    await here.world.agents.setStatus(owner.accountId, agentId, 'suspended');
    for (const { ledger } of [there, here]) {
      expect(await hold(ledger, agentId, keyId)).toMatchObject(refused('agent_suspended'));
    }
    await here.world.agents.setStatus(owner.accountId, agentId, 'active');
    for (const { ledger } of [there, here]) {
      expect(await hold(ledger, agentId, keyId)).toMatchObject({ kind: 'held' });
    }
  });

  it('a closed agent keeps only the money of its open holds, and gets no new hold', async () => {
    const { here, there, owner, agentId, keyId } = await knownToBoth('closed');
    await here.world.agents.close(owner.accountId, agentId);
    await here.world.agents.close(owner.accountId, agentId);
    expect(await hold(there.ledger, agentId, keyId)).toMatchObject(refused('agent_closed'));
    expect(await here.world.admin.balance(String(agentId))).toMatchObject({
      status: 'closed',
      spendableRaw: '0',
    });
    expect(await here.ledger.funds(agentId)).toMatchObject({ spendableRaw: 0n, heldRaw: 2n });
    expect(await here.world.developers.profile({ ...owner, role: 'owner' })).toMatchObject({
      usage: { totalSpentRaw: '0' },
    });
    await expect(here.world.admin.credit(String(agentId), 1n, 'late')).rejects.toMatchObject({
      status: 403,
      error: 'account_closed',
    });
  });

  it('a credit appears in the balances of the account', async () => {
    const { here, owner } = await knownToBoth('shown');
    expect(await here.world.developers.balances(owner.accountId)).toMatchObject({
      apiCreditsAvailableRaw: '998',
    });
  });
});
