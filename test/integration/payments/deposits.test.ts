import { encodeFunctionData, type Hex, multicall3Abi, numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLocalWallets } from '../../../src/accounts/wallets/local-wallets.ts';
import { bearer } from '../../../src/app/commands/demo/api.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { usdcDomain } from '../../../src/x402/authorization.ts';
import { booksOf, eventually, eventuallyTold, expectAgreement } from '../../support/chain/books.ts';
import { account, type Chain, startChain } from '../../support/chain/chain.ts';
import { USDC, USDC_ABI } from '../../support/chain/eip3009.ts';
import { startEvilVendor } from '../../support/chain/evil-vendor.ts';
import { MULTICALL3 } from '../../support/chain/install.ts';
import {
  type PayingDeveloper,
  type PayingServer,
  payingDeveloper,
  payingEnvironment,
  startPayingServer,
  type WalletAgent,
} from '../../support/chain/paying-server.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { ask } from '../../support/whole-world.ts';

/** USDC that comes into an agent's wallet is the agent's, to the raw unit, once. */

let chain: Chain;
let db: TestDatabase;

beforeAll(async () => {
  chain = await startChain();
});
afterAll(() => chain[Symbol.asyncDispose]());
beforeEach(async () => {
  db = await testDatabase(16);
});
afterEach(() => db[Symbol.asyncDispose]());

const start = (environment: Record<string, string> = {}): Promise<PayingServer> =>
  startPayingServer(db.target, { ...payingEnvironment(chain.url), ...environment });

const spendable = async ({ agentId }: WalletAgent) => (await booksOf(db.sql, agentId)).spendableRaw;

/** Everything that is on chain now has been read. */
async function isRead(of = chain): Promise<void> {
  const { number, hash } = await of.head();
  await eventually(async () => {
    const [row] = await db.sql`select block_number, block_hash from chain_cursors`;
    return [Number(row?.block_number) > number || row?.block_hash === hash, row];
  }).toMatchObject([true, expect.anything()]);
}

const transfer = (to: Hex, raw: bigint): Hex =>
  encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [to, raw] });

/** The other party of everything here: a transfer of the bank's, in the caller's own words. */
const fromBank = (data: Hex) => ({
  from: account(0).address,
  to: USDC,
  data,
  gas: numberToHex(200_000),
});

describe('a deposit', () => {
  it('a deposit is spendable, and the agent reads the same wallet balance as the chain has', async () => {
    await using server = await start();
    const developer = await payingDeveloper(server.api);
    const agent = await developer.createAgent();
    await chain.fundUsdc(agent.wallet, 123_456n);
    const balance = () =>
      server.api.call('GET', '/v1/agents/balance', { headers: bearer(agent.agentKey) });
    await eventuallyTold(balance).toMatchObject({
      spendableRaw: '123456',
      balance: '123456',
      walletUsdcRaw: '123456',
    });
    await expectAgreement(db.sql, chain);
  });

  it("a deposit is counted in the developer's balances, and belongs to the developer again after the agent is closed", async () => {
    await using server = await start();
    const developer = await payingDeveloper(server.api);
    const agent = await developer.createAgent();
    await chain.fundUsdc(agent.wallet, 700n);
    const balances = () =>
      server.api.call('GET', '/v1/developer/balances', { headers: developer.headers });
    await eventuallyTold(balances).toEqual({
      developerWalletBalanceRaw: '0',
      agentWalletsBalanceRaw: '700',
      apiCreditsAvailableRaw: '700',
      currency: 'USDC',
      decimals: 6,
    });
    const path = `/v1/developer/agents/${agent.agentId}/close`;
    await server.api.call('POST', path, { headers: developer.headers, body: {} });
    await eventuallyTold(balances).toMatchObject({
      developerWalletBalanceRaw: '700',
      agentWalletsBalanceRaw: '0',
      apiCreditsAvailableRaw: '0',
    });
  });

  it('a deposit is credited once by any number of processes and after any number of restarts', async () => {
    const agents: WalletAgent[] = [];
    let before: { block_number: bigint; block_hash: string } | undefined;
    {
      await using first = await start();
      await using _second = await start();
      const developer = await payingDeveloper(first.api);
      for (let i = 0; i < 3; i++) agents.push(await developer.createAgent());
      await isRead();
      [before] = await db.sql<NonNullable<typeof before>[]>`
        select block_number, block_hash from chain_cursors`;
      await Promise.all(agents.map(({ wallet }, i) => chain.fundUsdc(wallet, BigInt(i + 1))));
      await isRead();
    }
    // As if the process that credited them had died before it wrote how far it had read.
    await db.sql`
      update chain_cursors set block_number = ${Number(before?.block_number)},
        block_hash = ${before?.block_hash ?? ''}`;
    await using server = await start();
    await isRead();
    expect(await Promise.all(agents.map(spendable))).toEqual([1n, 2n, 3n]);
    expect(server.logged).toEqual([]);
    await expectAgreement(db.sql, chain);
  });

  it('a deposit that came while no server ran is credited when a server starts', async () => {
    const agent = await (async () => {
      await using server = await start();
      const made = await (await payingDeveloper(server.api)).createAgent();
      await isRead();
      return made;
    })();
    await chain.fundUsdc(agent.wallet, 5_000n);
    await chain.mine(300);
    await using _server = await start();
    await eventually(() => spendable(agent)).toBe(5_000n);
    await expectAgreement(db.sql, chain);
  });

  it('a deposit is credited only once enough blocks are on top of it', async () => {
    await using server = await start({ CHAIN_CONFIRMATIONS: '3' });
    const agent = await (await payingDeveloper(server.api)).createAgent();
    const depth = async () => {
      const { number } = await chain.head();
      const [row] = await db.sql`select block_number from chain_cursors`;
      return number - Number(row?.block_number ?? -1);
    };
    await chain.fundUsdc(agent.wallet, 900n);
    await chain.mine(2);
    await eventually(depth).toBe(3);
    expect(await spendable(agent)).toBe(0n);
    await chain.mine();
    await eventually(() => spendable(agent)).toBe(900n);
  });

  it('several deposits in one transaction are each credited', async () => {
    await using server = await start();
    const developer = await payingDeveloper(server.api);
    const [one, other] = [await developer.createAgent(), await developer.createAgent()];
    await chain.fundUsdc(MULTICALL3, 60n);
    const calls = [
      { wallet: one.wallet, raw: 10n },
      { wallet: other.wallet, raw: 20n },
      { wallet: one.wallet, raw: 30n },
    ].map(({ wallet, raw }) => ({
      target: USDC,
      allowFailure: false,
      callData: transfer(wallet, raw),
    }));
    const data = encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [calls],
    });
    await chain.send({ from: account(2).address, to: MULTICALL3, data, gas: numberToHex(500_000) });
    await eventually(async () => [await spendable(one), await spendable(other)]).toEqual([
      40n,
      20n,
    ]);
    await isRead();
    await expectAgreement(db.sql, chain);
  });

  it('a transfer of zero, or of a wallet to itself, credits no deposit', async () => {
    await using server = await start();
    const developer = await payingDeveloper(server.api);
    const agent = await developer.createAgent();
    await chain.fundUsdc(agent.wallet, 1_000n);
    await eventually(() => spendable(agent)).toBe(1_000n);
    await chain.send(fromBank(transfer(agent.wallet, 0n)));
    await toItself(agent, 400n);
    await isRead();
    expect(await spendable(agent)).toBe(1_000n);
    await expectAgreement(db.sql, chain);
  });

  it('a deposit reaches an agent that is suspended', async () => {
    await using server = await start();
    const developer = await payingDeveloper(server.api);
    const agent = await developer.createAgent();
    const status = await ask(`${server.api.baseUrl}/v1/developer/agents/${agent.agentId}/status`, {
      method: 'PATCH',
      headers: developer.headers,
      body: { status: 'suspended' },
    });
    expect(status.body).toMatchObject({ status: 'suspended' });
    await chain.fundUsdc(agent.wallet, 77n);
    await eventually(() => spendable(agent)).toBe(77n);
  });

  it('a payment from one agent to another is credited as a deposit of the payee', async () => {
    await using vendor = await startEvilVendor(chain);
    await using server = await start();
    const developer = await payingDeveloper(server.api);
    const [payer, payee] = [await developer.createAgent(), await developer.createAgent()];
    await chain.fundUsdc(payer.wallet, 50_000n);
    await eventually(() => spendable(payer)).toBe(50_000n);
    const url = vendor.sell({ priceRaw: 20_000n, payTo: payee.wallet });
    await server.api.call('POST', '/v1/proxy/fetch', {
      headers: bearer(payer.agentKey),
      body: { url },
    });
    await eventually(() => spendable(payee)).toBe(20_000n);
    await eventually(() => booksOf(db.sql, payer.agentId)).toMatchObject({
      spendableRaw: 30_000n,
      heldRaw: 0n,
      walletRaw: 30_000n,
      promisedRaw: 0n,
    });
    await expectAgreement(db.sql, chain);
  });
});

describe('a deposit whose block is replaced', () => {
  it('a deposit whose block is replaced is credited once when its transaction is in another block', async () => {
    await using replaced = await startChain();
    await using server = await start({ RPC_URL: replaced.url });
    const developer: PayingDeveloper = await payingDeveloper(server.api);
    const agent = await developer.createAgent();
    // In one block behind another transfer: its log is not the first of the block.
    await replaced.setAutomine(false);
    const stranger = account(7).address;
    await replaced.post(fromBank(transfer(stranger, 1n)));
    const hash = await replaced.post(fromBank(transfer(agent.wallet, 31_000n)));
    await replaced.mine();
    await replaced.setAutomine(true);
    const [first] = await replaced.transferLogs({ to: agent.wallet });
    expect(first).toMatchObject({ txHash: hash, logIndex: 1 });
    await eventually(() => spendable(agent)).toBe(31_000n);

    const raw = (tx: Hex) => replaced.node.ask<Hex>('eth_getRawTransactionByHash', tx);
    const [before] = await replaced.transferLogs({ to: stranger });
    const pairs = [
      [await raw(before?.txHash as Hex), 0],
      [await raw(hash), 1],
    ];
    await replaced.node.ask('anvil_reorg', 2, pairs);
    await replaced.mine();
    const [second, ...more] = await replaced.transferLogs({ to: agent.wallet });
    expect(more).toEqual([]);
    expect(second).toMatchObject({ txHash: hash, logIndex: 0 });
    await isRead(replaced);
    expect(server.logged.map(({ msg }) => msg)).toContainEqual(
      expect.stringContaining('reorganised'),
    );
    expect(await spendable(agent)).toBe(31_000n);
    await expectAgreement(db.sql, replaced);
  });
});

/** The wallet pays itself: the token lets it, and says that USDC has moved. */
async function toItself({ agentId, wallet }: WalletAgent, raw: bigint): Promise<void> {
  const environment = payingEnvironment(chain.url);
  const wallets = createLocalWallets({
    sql: db.sql,
    random: systemRandom,
    authorizationKey: environment.MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY as string,
    appSecret: environment.MANAGED_WALLET_APP_SECRET as string,
  });
  const [row] = await db.sql<{ account_id: string }[]>`
    select account_id from agents where id = ${agentId}`;
  const validBefore = (await chain.head()).timestamp + 600;
  const nonce = numberToHex(agentId, { size: 32 });
  const signature = await wallets.signTransfer(`${row?.account_id}:${agentId}`, usdcDomain(USDC), {
    from: wallet,
    to: wallet,
    valueRaw: raw,
    validAfter: 0,
    validBefore,
    nonce,
  });
  const values = { validAfter: 0n, validBefore: BigInt(validBefore), nonce };
  const sent = { from: wallet, to: wallet, value: raw, ...values };
  const { status } = await chain.mined(await chain.submit(sent, signature as Hex));
  expect(status).toBe('0x1');
}
