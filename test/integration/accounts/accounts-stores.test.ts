import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAgent, insertAgent, saveStatus } from '../../../src/accounts/agents/agent-store.ts';
import { activateAgent, claimProvisions } from '../../../src/accounts/agents/provision-store.ts';
import {
  findDeveloper,
  insertDeveloper,
} from '../../../src/accounts/developers/developer-store.ts';
import {
  findDeveloperByDigest,
  insertDeveloperKey,
  revokeDeveloperKey,
} from '../../../src/accounts/keys/developer-key-store.ts';
import { flushKeyUse } from '../../../src/accounts/keys/key-use.ts';
import { saveKeyUses } from '../../../src/accounts/keys/key-use-store.ts';
import { findUsage } from '../../../src/accounts/management/usage-store.ts';
import { saveOperatorPermission } from '../../../src/accounts/wallets/local-delegation-store.ts';
import { findWallet, insertWallet } from '../../../src/accounts/wallets/local-wallet-store.ts';
import { withdrawPosting } from '../../../src/ledger/rules/build-postings.ts';
import { findAvailable } from '../../../src/spend/awareness/available-store.ts';
import { accountsWorld, agentWish } from '../../support/accounts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => db[Symbol.asyncDispose]());

const NOW = new Date(Date.UTC(2026, 0, 1));
const LATER = new Date(Date.UTC(2026, 0, 2));

/** A fresh account and how to put agents into it as rows. */
async function account(name: string) {
  const { accountId, wallet } = await accountsWorld(db.sql).owner(name);
  const insert = (agentName: string) =>
    insertAgent(db.sql, {
      accountId,
      name: agentName,
      fundingMode: 'wallet',
      borrowLimitRaw: null,
      maxRateBps: 1,
      expirySeconds: 60,
      provisionNextAt: NOW,
    });
  const requireAgent = async (agentName: string) => {
    const agent = await insert(agentName);
    if (agent === undefined) throw new Error('the name is taken');
    return agent;
  };
  return { accountId, wallet, insert, requireAgent };
}

describe('agent rows', () => {
  it('an agent name belongs to one open agent of an account, and is free again after the close', async () => {
    const { accountId, insert, requireAgent } = await account('names');
    const first = await requireAgent('same');
    expect(await insert('same')).toBeUndefined();
    expect(await (await account('others')).insert('same')).toBeDefined();
    await saveStatus(db.sql, first, 'closed', null, NOW);
    expect(await insert('same')).toBeDefined();
    expect(await findAgent(db.sql, { agentId: first.id, accountId })).toMatchObject({
      status: 'closed',
      closedAt: NOW,
    });
    const foreign = { agentId: first.id, accountId: 'acct_of_somebody' };
    expect(await findAgent(db.sql, foreign)).toBeUndefined();
  });

  it('an agent row changes status only from the status that was read', async () => {
    const agent = await (await account('guarded')).requireAgent('guarded');
    const provisioned = {
      walletAddress: `0x${'ab'.repeat(20)}`,
      operatorExpiry: 9,
      delegationTxHash: null,
    };
    expect(await activateAgent(db.sql, agent.id, provisioned, NOW)).toBe(true);
    expect(await activateAgent(db.sql, agent.id, provisioned, NOW)).toBe(false);
    expect(await saveStatus(db.sql, agent, 'closed', null, NOW)).toBeUndefined();
  });

  it('an agent row is claimed for provisioning by one process at a time, and again after the lease', async () => {
    const agent = await (await account('claimed')).requireAgent('claimed');
    const claims = await Promise.all(
      Array.from({ length: 4 }, () => claimProvisions(db.sql, NOW, LATER)),
    );
    const mine = (due: { agentId: number }[]) => due.filter(({ agentId }) => agentId === agent.id);
    expect(claims.flatMap(mine)).toHaveLength(1);
    expect(mine(await claimProvisions(db.sql, NOW, LATER))).toHaveLength(0);
    expect(mine(await claimProvisions(db.sql, LATER, LATER))).toHaveLength(1);
  });
});

describe('rows that are written once', () => {
  it('the stores create one account row per wallet and one wallet row per reference', async () => {
    const wallet = `0x${'cd'.repeat(20)}`;
    await insertDeveloper(db.sql, { accountId: 'acct_first', wallet });
    await insertDeveloper(db.sql, { accountId: 'acct_second', wallet });
    expect(await findDeveloper(db.sql, wallet)).toMatchObject({ accountId: 'acct_first' });

    const sealedKey = Buffer.from('sealed');
    await insertWallet(db.sql, 'ref', { address: '0x1', sealedKey });
    await insertWallet(db.sql, 'ref', { address: '0x2', sealedKey });
    expect(await findWallet(db.sql, 'ref')).toEqual({ address: '0x1', sealedKey });
  });

  it('the operator permission store keeps the latest permission of each agent', async () => {
    const agent = await (await account('permission')).requireAgent('permission');
    const permission = {
      agentId: agent.id,
      wallet: '0x1',
      borrowLimitRaw: 1n,
      maxRateBps: 1,
      expiry: 1,
      operator: '0x2',
      txHash: '0x3',
    };
    await saveOperatorPermission(db.sql, permission);
    await saveOperatorPermission(db.sql, { ...permission, borrowLimitRaw: 2n, expiry: 5 });
    const rows = await db.sql`select * from operator_permissions where agent_id = ${agent.id}`;
    expect(rows).toMatchObject([{ borrow_limit_raw: 2n, expiry: 5n }]);
  });
});

describe('key rows', () => {
  it('a key row is valid to the instant of its revocation or expiry', async () => {
    const { accountId, wallet } = await account('key rows');
    const key = await insertDeveloperKey(db.sql, {
      accountId,
      digest: 'digest',
      prefix: 'p',
      label: null,
      permissions: 'read',
      expiresAt: LATER,
      rotatedFrom: null,
      createdBy: wallet,
    });
    const find = (now: Date) => findDeveloperByDigest(db.sql, 'digest', now);
    expect(await find(NOW)).toMatchObject({ keyId: key.id, accountId });
    expect(await find(LATER)).toBeUndefined();
    expect(await revokeDeveloperKey(db.sql, accountId, key.id, NOW)).toBeDefined();
    expect(await revokeDeveloperKey(db.sql, accountId, key.id, NOW)).toBeUndefined();
    expect(await find(NOW)).toBeUndefined();
  });

  it('a key row records its latest use, written in one batch and never moved back', async () => {
    const world = accountsWorld(db.sql);
    const owner = await world.owner('uses');
    const { agentId } = await world.agents.create(owner.accountId, agentWish('uses'));
    const { record, secret } = await world.agentKeys.mint(owner, agentId, {});
    await world.credentials.agentKey(secret);
    const lastUse = async () => {
      const [row] = await db.sql`select last_used_at from agent_keys where id = ${record.id}`;
      return row?.last_used_at;
    };
    expect(await lastUse()).toBeNull();
    await flushKeyUse(world).tick();
    const used = new Date(world.clock.now());
    expect(await lastUse()).toEqual(used);
    await saveKeyUses(db.sql, 'agent', new Map([[record.id, used.getTime() - 1_000]]));
    expect(await lastUse()).toEqual(used);
  });
});

describe('what an account has and has used', () => {
  it('the usage of an account is the sum over its agents, and a close does not count as spending', async () => {
    const { accountId, requireAgent } = await account('sums');
    const [open, closed] = [await requireAgent('open'), await requireAgent('closed')];
    for (const { id } of [open, closed]) {
      await db.sql`
        insert into agent_funds
          (agent_id, account_id, spendable_raw, held_raw, credited_raw, consumed_raw)
        values (${id}, ${accountId}, 60, 10, 100, 30)`;
    }
    await saveStatus(db.sql, closed, 'closed', null, NOW);
    await db.sql`
      update agent_funds set spendable_raw = 0, consumed_raw = 90 where agent_id = ${closed.id}`;
    // Another account's agent, whose number begins alike.
    const other = closed.id * 10;
    for (const [agentId, reference, amountRaw] of [
      [closed.id, `close:${closed.id}`, 50n],
      [closed.id, `close:${closed.id}:rest:${NOW.getTime()}`, 10n],
      [other, `close:${other}`, 5n],
    ] as const) {
      const posting = withdrawPosting(agentId, reference, amountRaw);
      const { debit, credit } = posting.entries[0] ?? expect.fail('a withdrawal moves money');
      await db.sql`
        insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
        values (${posting.id}, ${agentId}, ${posting.code}, ${`${posting.askedRaw}`}::bigint,
          ${[debit]}, ${[credit]}, ${[`${amountRaw}`]}::bigint[])`;
    }
    expect(await findUsage(db.sql, accountId)).toEqual({ totalRequests: 0, totalSpentRaw: 60n });
    expect(await findAvailable(db.sql, [open.id, closed.id], NOW.getTime())).toEqual(
      new Map([
        [open.id, 60n],
        [closed.id, 0n],
      ]),
    );
  });

  it('the usage of an account is read without the hold postings of a closed agent', async () => {
    const { accountId, requireAgent } = await account('busy');
    const { id } = await requireAgent('busy');
    await db.sql`update agents set status = 'closed' where id = ${id}`;
    await db.sql`
      insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
      select 'hold:busy' || i, ${id}, 'hold.open', 1, '{a}', '{b}', '{1}'
      from generate_series(1, 500) i`;
    await db.sql`analyze postings`;
    const postingsRead = await db.sql.begin(async (tx) => {
      // So few rows fit a page or two, which would be read whole.
      await tx`set local enable_seqscan = off`;
      await findUsage(tx, accountId);
      const [read] = await tx`
        select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count
        from pg_stat_xact_user_tables where relname = 'postings'`;
      return read?.count;
    });
    // The planner looks at either end of the index.
    expect(postingsRead).toBeLessThanOrEqual(2);
  });
});
