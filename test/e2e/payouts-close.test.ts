import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer } from '../../src/app/commands/demo/api.ts';
import {
  booksOf,
  eventually,
  eventuallyTold,
  expectAgreement,
  ledgerBeside,
  payoutsOf,
} from '../support/chain/books.ts';
import { type Chain, startChain } from '../support/chain/chain.ts';
import { type Leg, startEvilVendor } from '../support/chain/evil-vendor.ts';
import {
  ADMIN_KEY,
  type CloseAnswer,
  close,
  creditByAdmin,
  type PayingDeveloper,
  type PayingServer,
  payingDeveloper,
  payingEnvironment,
  startPayingServer,
} from '../support/chain/paying-server.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { DESTINATION } from '../support/spending.ts';

/** Whoever closes an agent gets what deposits back, on chain, once, and nothing that is not the developer's. */

let chain: Chain;
let db: TestDatabase;
let server: PayingServer;
let developer: PayingDeveloper;

beforeAll(async () => {
  [chain, db] = await Promise.all([startChain(), testDatabase()]);
  server = await startPayingServer(db.target, payingEnvironment(chain.url));
  developer = await payingDeveloper(server.api);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await Promise.all([chain[Symbol.asyncDispose](), db[Symbol.asyncDispose]()]);
});

/** An agent whose deposit has been credited. */
async function funded(raw: bigint) {
  const agent = await developer.createAgent();
  await chain.fundUsdc(agent.wallet, raw);
  await eventually(async () => (await booksOf(db.sql, agent.agentId)).spendableRaw).toBe(raw);
  return agent;
}

const owned = () => chain.usdcOf(developer.owner.address);
const isPaid = (agentId: number, count = 1) =>
  eventually(() => payoutsOf(db.sql, agentId)).toEqual(
    Array.from({ length: count }, () => expect.objectContaining({ state: 'done' })),
  );

/** What a close answers at the latest when it is repeated: this much has gone out. */
async function closed(agentId: number, usdcTransferred: string): Promise<CloseAnswer> {
  const ask = () => close(server.api, developer, agentId);
  await eventuallyTold(ask).toMatchObject({ status: 'closed', usdcTransferred });
  return ask();
}

const EMPTY = { status: 'closed', spendableRaw: 0n, heldRaw: 0n, promisedRaw: 0n };

describe('a close', () => {
  it('closing an agent pays the developer the balance that deposits back, and returns the transfer, also when repeated', async () => {
    const agent = await funded(2_500_000n);
    const before = await owned();
    const answer = await closed(agent.agentId, '2500000');
    expect(await owned()).toBe(before + 2_500_000n);
    const [transfer] = await chain.transferLogs({ from: agent.wallet });
    expect(transfer).toMatchObject({ value: 2_500_000n, txHash: answer.transferTxHash });
    await isPaid(agent.agentId);
    expect(await booksOf(db.sql, agent.agentId)).toMatchObject({ ...EMPTY, walletRaw: 0n });
    expect(await close(server.api, developer, agent.agentId)).toEqual(answer);
    await expectAgreement(db.sql, chain);
  });

  it('closing an agent pays nothing for credit that no deposit backs', async () => {
    const credited = await developer.createAgent();
    await creditByAdmin(server.api, credited.agentId, 700_000n, 'unbacked');
    expect(await close(server.api, developer, credited.agentId)).toMatchObject({
      status: 'closed',
      transferTxHash: null,
      usdcTransferred: null,
    });
    expect(await payoutsOf(db.sql, credited.agentId)).toEqual([]);

    const mixed = await funded(400_000n);
    await creditByAdmin(server.api, mixed.agentId, 1_000_000n, 'unbacked-2');
    await closed(mixed.agentId, '400000');
    await isPaid(mixed.agentId);
    expect(await booksOf(db.sql, mixed.agentId)).toMatchObject({ ...EMPTY, walletRaw: 0n });
    await expectAgreement(db.sql, chain);
  });

  it('closing an agent leaves the consumed amount to the operator, and later pays out what its holds release', async () => {
    const agent = await funded(1_000_000n);
    const { agentId } = agent;
    await using ledger = await ledgerBeside(db.sql);
    const hold = async (holdId: string, amountRaw: bigint) => {
      const asked = { spender: { agentId }, holdId, amountRaw, destination: DESTINATION };
      const verdict = await ledger.hold(asked);
      if (verdict.kind === 'refused') throw new Error(verdict.refusal.reason);
      return verdict.hold;
    };
    const [first, second] = [await hold('first', 300_000n), await hold('second', 200_000n)];
    const settle = { account: 'gateway', source: 'test' } as const;
    await ledger.settle({ hold: first, actualRaw: 120_000n, ...settle });
    const before = await owned();
    await closed(agentId, '680000');
    await isPaid(agentId);
    expect(await booksOf(db.sql, agentId)).toMatchObject({ heldRaw: 200_000n, spendableRaw: 0n });
    await ledger.settle({ hold: second, actualRaw: 50_000n, ...settle });
    await isPaid(agentId, 2);
    expect(await owned()).toBe(before + 830_000n);
    expect(await booksOf(db.sql, agentId)).toMatchObject({ ...EMPTY, walletRaw: 170_000n });
    await closed(agentId, '830000');
    await expectAgreement(db.sql, chain);
  });

  it.each([
    { end: 'is taken by the vendor after all', taken: true, paidRaw: 70_000n },
    { end: 'is never taken', taken: false, paidRaw: 100_000n },
  ])(
    'closing an agent pays out no money of a signed payment: a payment under way $end',
    async ({ taken, paidRaw }) => {
      await using vendor = await startEvilVendor(chain);
      const { agentId, agentKey, wallet } = await funded(100_000n);
      const stage: Leg = {
        settle: taken ? 'held' : 'never',
        answer: { kind: 'answer', status: 500 },
      };
      const url = vendor.sell({ priceRaw: 30_000n, paid: stage });
      const paying = { headers: bearer(agentKey), body: { url } };
      await server.api.call('POST', '/v1/proxy/fetch', paying).catch(() => undefined);
      expect(await booksOf(db.sql, agentId)).toMatchObject({
        heldRaw: 30_000n,
        promisedRaw: 30_000n,
      });
      const before = await owned();
      await closed(agentId, '70000');
      await isPaid(agentId);
      expect(await chain.usdcOf(wallet)).toBe(30_000n);
      if (taken) await vendor.settleHeld(url);
      else await chain.travel(300);
      await eventually(() => booksOf(db.sql, agentId)).toMatchObject({ ...EMPTY, walletRaw: 0n });
      expect(await owned()).toBe(before + paidRaw);
      await expectAgreement(db.sql, chain);
    },
  );

  it('closing an agent pays out later deposits by itself', async () => {
    const agent = await funded(10_000n);
    await close(server.api, developer, agent.agentId);
    await isPaid(agent.agentId);
    const before = await owned();
    await chain.fundUsdc(agent.wallet, 90_000n);
    await isPaid(agent.agentId, 2);
    expect(await owned()).toBe(before + 90_000n);
    expect(await booksOf(db.sql, agent.agentId)).toMatchObject({ ...EMPTY, walletRaw: 0n });
    await expectAgreement(db.sql, chain);
  });

  it('closing an agent pays once, however many requests race', async () => {
    const agent = await funded(555_000n);
    const before = await owned();
    const asked = Array.from({ length: 5 }, () => close(server.api, developer, agent.agentId));
    await Promise.all(asked);
    await isPaid(agent.agentId);
    expect(await owned()).toBe(before + 555_000n);
    expect(await chain.transferLogs({ from: agent.wallet })).toHaveLength(1);
    await expectAgreement(db.sql, chain);
  });

  it('closing an agent is open to the agent’s own key', async () => {
    const agent = await funded(123_000n);
    const ask = () =>
      server.api.call<CloseAnswer>('POST', '/v1/agents/close', {
        headers: bearer(agent.agentKey),
        body: {},
      });
    await eventuallyTold(ask).toMatchObject({ status: 'closed', usdcTransferred: '123000' });
    await isPaid(agent.agentId);
    expect(await booksOf(db.sql, agent.agentId)).toMatchObject({ ...EMPTY, walletRaw: 0n });
    expect(await closed(agent.agentId, '123000')).toEqual(await ask());
    await expectAgreement(db.sql, chain);
  });

  it('payouts that the chain has not confirmed are counted in the metrics', async () => {
    const waiting = async () => {
      const answer = await fetch(`${server.api.baseUrl}/metrics`, {
        headers: { 'x-admin-key': ADMIN_KEY },
      });
      const line = /^svc_payouts_waiting\{kind="close"\} (\d+)$/m.exec(await answer.text());
      return line?.[1];
    };
    await eventually(waiting).toBe('0');
    const agent = await funded(1_000n);
    await chain.setAutomine(false);
    await close(server.api, developer, agent.agentId);
    await eventually(waiting).toBe('1');
    await chain.setAutomine(true);
    await chain.mine();
    await eventually(waiting).toBe('0');
  });
});
