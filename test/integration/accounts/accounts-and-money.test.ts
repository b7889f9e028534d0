import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { ManualClock } from '../../../src/kernel/manual-clock.ts';
import { createLedger } from '../../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { accountsWorld, agentWish } from '../../support/accounts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
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
  it('credits once of many credits with the same reference at once, in two processes', async () => {
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

  it('refuses a revoked key its very next hold, in a process that heard nothing of it', async () => {
    const { here, there, owner, agentId, keyId } = await knownToBoth('revoked');
    await here.world.agentKeys.revoke(owner, agentId, keyId);
    for (const { ledger } of [there, here]) {
      expect(await hold(ledger, agentId, keyId)).toMatchObject(refused('key_revoked'));
    }
  });

  it('lets a new key spend at once, in a process that heard nothing of it', async () => {
    const { here, there, owner, agentId } = await knownToBoth('minted');
    const { record } = await here.world.agentKeys.mint(owner, agentId, {});
    for (const { ledger } of [there, here]) {
      expect(await hold(ledger, agentId, record.id)).toMatchObject({ kind: 'held' });
    }
  });

  it('stops a suspended agent and lets it go on again, in a process that heard nothing of it', async () => {
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

  it('empties a closed agent but for what is in flight, and gives it no hold any more', async () => {
    const { here, there, owner, agentId, keyId } = await knownToBoth('closed');
    await here.world.agents.close(owner.accountId, agentId);
    await here.world.agents.close(owner.accountId, agentId);
    expect(await hold(there.ledger, agentId, keyId)).toMatchObject(refused('agent_closed'));
    expect(await here.world.admin.balance(String(agentId))).toMatchObject({
      status: 'closed',
      spendableRaw: '0',
    });
    expect(await here.ledger.funds(agentId)).toMatchObject({ spendableRaw: 0n, heldRaw: 2n });
    expect(await here.world.developers.profile(owner)).toMatchObject({
      usage: { totalSpentRaw: '0' },
    });
    await expect(here.world.admin.credit(String(agentId), 1n, 'late')).rejects.toMatchObject({
      status: 403,
      error: 'account_closed',
    });
  });

  it('shows a credit in the account’s balances', async () => {
    const { here, owner } = await knownToBoth('shown');
    expect(await here.world.developers.balances(owner)).toMatchObject({
      apiCreditsAvailableRaw: '998',
    });
  });
});
