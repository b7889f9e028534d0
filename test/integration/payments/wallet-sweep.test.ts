import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer } from '../../../src/app/commands/demo/api.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import type { LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { PAYMENT_LIMITS } from '../../../src/payments/limits.ts';
import {
  findClosedWithMoney,
  findSurplus,
} from '../../../src/payments/payouts/agent-page-store.ts';
import { sweepSurplus } from '../../../src/payments/payouts/sweep-surplus.ts';
import {
  booksOf,
  eventually,
  expectAgreement,
  ledgerBeside,
  payoutsOf,
} from '../../support/chain/books.ts';
import { type Chain, startChain } from '../../support/chain/chain.ts';
import { startEvilVendor } from '../../support/chain/evil-vendor.ts';
import {
  close,
  type PayingServer,
  payingDeveloper,
  payingEnvironment,
  startPayingServer,
} from '../../support/chain/paying-server.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { DESTINATION } from '../../support/spending.ts';
import { testWallet } from '../../support/wallet.ts';

/** What gateway and phone have consumed leaves the agents' wallets for the operator's, and nothing else does. */

let chain: Chain;
let db: TestDatabase;
let ledger: LiveLedger;

beforeAll(async () => {
  chain = await startChain();
});
afterAll(() => chain[Symbol.asyncDispose]());
beforeEach(async () => {
  db = await testDatabase(16);
  ledger = await ledgerBeside(db.sql);
});
afterEach(async () => {
  await chain.setAutomine(true);
  await ledger[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const USD = 1_000_000n;
let treasuries = 0;
const newTreasury = () => testWallet(`treasury ${process.pid} ${++treasuries}`).address;

const start = (environment: Record<string, string> = {}): Promise<PayingServer> =>
  startPayingServer(db.target, { ...payingEnvironment(chain.url), ...environment });

let holds = 0;

/** Something that costs without leaving the wallet: a model call, say. */
async function consume(agentId: number, amountRaw: bigint): Promise<void> {
  const asked = { spender: { agentId }, holdId: `work ${++holds}`, amountRaw };
  const verdict = await ledger.hold({ ...asked, destination: DESTINATION });
  if (verdict.kind === 'refused') throw new Error(verdict.refusal.reason);
  await ledger.settle({
    hold: verdict.hold,
    actualRaw: amountRaw,
    account: 'gateway',
    source: 't',
  });
}

async function funded(server: PayingServer, raw: bigint) {
  const developer = await payingDeveloper(server.api);
  const agent = await developer.createAgent();
  await chain.fundUsdc(agent.wallet, raw);
  await eventually(async () => (await booksOf(db.sql, agent.agentId)).spendableRaw).toBe(raw);
  return { developer, agent };
}

describe('a sweep', () => {
  it('a wallet sweep moves the consumed amount to the treasury, and leaves enough to pay the rest', async () => {
    const treasury = newTreasury() as `0x${string}`;
    await using vendor = await startEvilVendor(chain);
    await using server = await start({ TREASURY_ADDRESS: treasury });
    const { developer, agent } = await funded(server, 10n * USD);
    const { agentId, wallet, agentKey } = agent;
    await consume(agentId, 4n * USD);
    await eventually(() => chain.usdcOf(treasury)).toBe(4n * USD);
    await eventually(() => booksOf(db.sql, agentId)).toMatchObject({
      spendableRaw: 6n * USD,
      walletRaw: 6n * USD,
      promisedRaw: 0n,
    });
    const url = vendor.sell({ priceRaw: 5n * USD });
    const headers = bearer(agentKey);
    await server.api.call('POST', '/v1/proxy/fetch', { headers, body: { url } });
    await eventually(() => booksOf(db.sql, agentId)).toMatchObject({
      heldRaw: 0n,
      walletRaw: 1n * USD,
    });
    await close(server.api, developer, agentId);
    await eventually(() => chain.usdcOf(developer.owner.address)).toBe(1n * USD);
    await eventually(() => chain.usdcOf(wallet)).toBe(0n);
    await eventually(() => payoutsOf(db.sql, agentId)).toMatchObject([
      { kind: 'sweep', state: 'done' },
      { kind: 'close', state: 'done' },
    ]);
    await expectAgreement(db.sql, chain);
  });

  it('a wallet sweep is not made without a treasury, and the consumed amount does not block payments', async () => {
    await using vendor = await startEvilVendor(chain);
    await using server = await start();
    const { agent } = await funded(server, 10n * USD);
    await consume(agent.agentId, 4n * USD);
    const buy = (priceRaw: bigint) =>
      server.api.call('POST', '/v1/proxy/fetch', {
        headers: bearer(agent.agentKey),
        body: { url: vendor.sell({ priceRaw }) },
      });
    await expect(buy(6n * USD + 1n)).rejects.toMatchObject({
      answer: expect.stringMatching(/insufficient_balance.*"available":"6000000"/),
    });
    await buy(6n * USD);
    await eventually(() => booksOf(db.sql, agent.agentId)).toMatchObject({
      spendableRaw: 0n,
      heldRaw: 0n,
      walletRaw: 4n * USD,
    });
    expect(await payoutsOf(db.sql, agent.agentId)).toEqual([]);
    await expectAgreement(db.sql, chain);
  });

  it('a wallet sweep is planned once by any number of processes, and not again before it is done', async () => {
    const treasury = newTreasury();
    await using server = await start();
    const { agent } = await funded(server, 10n * USD);
    const { agentId, wallet } = agent;
    await consume(agentId, 2n * USD);
    const page = await findSurplus(db.sql, 0, treasury);
    expect(page.found).toEqual([{ id: agentId, wallet }]);
    await using other = await ledgerBeside(db.sql);
    const deps = { random: systemRandom, treasury };
    await chain.setAutomine(false);
    await Promise.all(
      [ledger, other, ledger, other].map((each) =>
        sweepSurplus({ ...deps, ledger: each }, { id: agentId, wallet }),
      ),
    );
    expect(await payoutsOf(db.sql, agentId)).toMatchObject([{ amountRaw: 2n * USD }]);
    await consume(agentId, 3n * USD);
    expect((await findSurplus(db.sql, 0, treasury)).found).toEqual([]);
    await chain.setAutomine(true);
    await chain.mine();
    await eventually(() => payoutsOf(db.sql, agentId)).toMatchObject([{ state: 'done' }]);
    expect((await findSurplus(db.sql, 0, treasury)).found).toEqual([{ id: agentId, wallet }]);
    await expectAgreement(db.sql, chain);
  });

  it('a wallet sweep skips small amounts, amounts that may still be claimed, and a treasury among the wallets', async () => {
    await using server = await start();
    const { agent } = await funded(server, 10n * USD);
    const { agentId, wallet } = agent;
    const found = async (treasury: string) => (await findSurplus(db.sql, 0, treasury)).found;
    await consume(agentId, PAYMENT_LIMITS.payout.sweepLeastRaw - 1n);
    expect(await found(newTreasury())).toEqual([]);
    const asked = { spender: { agentId }, holdId: 'under way', amountRaw: 5n * USD };
    await ledger.hold({ ...asked, destination: DESTINATION });
    expect(await found(newTreasury())).toEqual([]);
    await consume(agentId, 1n);
    expect(await found(newTreasury())).toEqual([{ id: agentId, wallet }]);
    expect(await found(wallet)).toEqual([]);
  });
});

describe('a pass over all agents', () => {
  /** Nine agents, each a third closed with money, a third closed without, a third open. */
  async function seed() {
    const agents = await seedAgents(db.sql, 9);
    for (const [i, { agentId }] of agents.entries()) {
      if (i % 3 !== 1) await ledger.credit({ agentId, amountRaw: 5n, reference: `c${agentId}` });
      if (i % 3 === 2) continue;
      await db.sql`update agents set status = 'closed' where id = ${agentId}`;
    }
    return agents.filter((_, i) => i % 3 === 0).map(({ agentId }) => agentId);
  }

  it.each([
    { looked: 2, found: 2 },
    { looked: 9, found: 1 },
    { looked: 3, found: 1 },
    { looked: 100, found: 100 },
  ])('the search for closed agents with money finds every one, in pages of %o', async (bounds) => {
    const expected = await seed();
    const found: number[] = [];
    let after = 0;
    let passes = 0;
    do {
      const page = await findClosedWithMoney(db.sql, after, bounds);
      found.push(...page.found.map(({ id }) => id));
      after = page.nextAfter;
      expect(++passes).toBeLessThan(20);
    } while (after !== 0);
    expect(found).toEqual(expected);
  });

  it('the search for closed agents with money skips agents with unfinished work', async () => {
    const [first, ...rest] = await seed();
    if (first === undefined) throw new Error('no agent was made');
    await db.sql`update agents set status = 'active' where id = ${first}`;
    const asked = { spender: { agentId: first }, holdId: 'under way', amountRaw: 1n };
    expect(await ledger.hold({ ...asked, destination: DESTINATION })).toMatchObject({
      kind: 'held',
    });
    await db.sql`update agents set status = 'closed' where id = ${first}`;
    const page = await findClosedWithMoney(db.sql, 0);
    expect(page.found.map(({ id }) => id)).toEqual(rest);
  });
});
