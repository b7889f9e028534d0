import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bumpRules } from '../../../src/ledger/store/agent-funds.ts';
import {
  booksOf,
  eventually,
  expectAgreement,
  makeDue,
  payoutsOf,
} from '../../support/chain/books.ts';
import { account, type Chain, startChain } from '../../support/chain/chain.ts';
import { USDC } from '../../support/chain/eip3009.ts';
import {
  close,
  type PayingDeveloper,
  type PayingServer,
  payingDeveloper,
  payingEnvironment,
  startPayingServer,
  type WalletAgent,
} from '../../support/chain/paying-server.ts';
import { type RpcProxy, startRpcProxy } from '../../support/chain/rpc-proxy.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { testWallet } from '../../support/wallet.ts';

/** Whatever is in the way of a payout, it waits, and is paid once when the way is free. */

let chain: Chain;
let node: RpcProxy;
let db: TestDatabase;
let developer: PayingDeveloper;

beforeAll(async () => {
  chain = await startChain();
  node = await startRpcProxy(chain.url);
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});
beforeEach(async () => {
  db = await testDatabase(16);
});
afterEach(async () => {
  node.mode = { kind: 'up' };
  await chain.setAutomine(true);
  await db[Symbol.asyncDispose]();
});

const start = (environment: Record<string, string> = {}) =>
  startPayingServer(db.target, { ...payingEnvironment(node.url), ...environment });

/** A developer of this server, with an agent whose deposit has been credited. */
async function funded(server: PayingServer, raw = 1_000_000n): Promise<WalletAgent> {
  developer = await payingDeveloper(server.api);
  return deposited(raw);
}

async function deposited(raw: bigint): Promise<WalletAgent> {
  const agent = await developer.createAgent();
  await chain.fundUsdc(agent.wallet, raw);
  await eventually(async () => (await booksOf(db.sql, agent.agentId)).spendableRaw).toBe(raw);
  return agent;
}

const owned = () => chain.usdcOf(developer.owner.address);
const stateOf = async (agentId: number) => (await payoutsOf(db.sql, agentId))[0]?.state;

/** The payout was carried out, once, and everybody agrees on it. */
async function expectPaidOnce(agent: WalletAgent, raw = 1_000_000n): Promise<void> {
  await eventually(() => stateOf(agent.agentId)).toBe('done');
  expect(await chain.transferLogs({ from: agent.wallet })).toMatchObject([{ value: raw }]);
  await expectAgreement(db.sql, chain);
}

describe('a payout', () => {
  it('a payout waits for an unreachable node while the close is answered, and is paid when the node is back', async () => {
    await using server = await start();
    const agent = await funded(server);
    node.mode = { kind: 'down' };
    const answer = await close(server.api, developer, agent.agentId);
    expect(answer).toMatchObject({ transferTxHash: null, usdcTransferred: null });
    expect(await payoutsOf(db.sql, agent.agentId)).toMatchObject([
      { state: 'planned', amountRaw: 1_000_000n, payee: developer.owner.address },
    ]);
    node.mode = { kind: 'up' };
    await makeDue(db.sql);
    await expectPaidOnce(agent);
    expect(await owned()).toBe(1_000_000n);
    expect(await close(server.api, developer, agent.agentId)).toMatchObject({
      usdcTransferred: '1000000',
    });
  });

  it('a payout delays the close by no more than a few seconds when the node does not respond', async () => {
    await using server = await start();
    const agent = await funded(server);
    node.mode = { kind: 'silent' };
    const startedMs = performance.now();
    const answer = await close(server.api, developer, agent.agentId);
    expect(performance.now() - startedMs).toBeLessThan(6_500);
    expect(answer).toMatchObject({ status: 'closed', transferTxHash: null });
    node.mode = { kind: 'up' };
    await makeDue(db.sql);
    await expectPaidOnce(agent);
  });

  it('a payout waits for gas, and says why', async () => {
    const penniless = testWallet(`penniless ${process.pid}`);
    await using server = await start({ FACILITATOR_PRIVATE_KEY: penniless.privateKey });
    const agent = await funded(server);
    await close(server.api, developer, agent.agentId);
    const told = 'a payout did not reach the chain; it is tried again';
    await eventually(() => server.logged.map(({ msg }) => msg)).toContain(told);
    expect(await stateOf(agent.agentId)).toBe('planned');
    await chain.node.ask('anvil_setBalance', penniless.address, numberToHex(10n ** 18n));
    await makeDue(db.sql);
    await expectPaidOnce(agent);
  });

  it('a payout waits for a server with a chain, and every server without one logs one warning', async () => {
    const agent = await (async () => {
      await using server = await start();
      return await funded(server);
    })();
    const { RPC_URL: _, ...without } = payingEnvironment(node.url);
    await using chainless = await startPayingServer(db.target, without);
    node.forget();
    await close(chainless.api, developer, agent.agentId);
    await close(chainless.api, developer, agent.agentId);
    const warnings = () => chainless.logged.filter(({ msg }) => msg?.startsWith('payouts wait'));
    await eventually(warnings).toHaveLength(1);
    // Several passes later it is still the one.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(warnings()).toHaveLength(1);
    expect(await payoutsOf(db.sql, agent.agentId)).toMatchObject([
      { state: 'planned', attempts: 0 },
    ]);
    expect(node.calls).toEqual([]);
    await using _server = await start();
    await expectPaidOnce(agent);
  });

  it('a payout is not paid twice when it is retried before its transaction is mined', async () => {
    await using server = await start();
    const agent = await funded(server);
    await chain.setAutomine(false);
    await close(server.api, developer, agent.agentId);
    await eventually(() => stateOf(agent.agentId)).toBe('submitted');
    expect(await owned()).toBe(0n);
    await makeDue(db.sql);
    await eventually(
      async () => (await payoutsOf(db.sql, agent.agentId))[0]?.attempts,
    ).toBeGreaterThan(1);
    await chain.mine();
    await expectPaidOnce(agent);
    expect(await owned()).toBe(1_000_000n);
  });

  it('a payout that a third party has submitted to the chain counts as paid', async () => {
    await using server = await start();
    const agent = await funded(server);
    // Handed over and lost on the way: the signature is out in the world.
    node.mode = { kind: 'failing', methods: ['eth_sendRawTransaction'] };
    node.forget();
    await close(server.api, developer, agent.agentId);
    await eventually(() => node.count('eth_estimateGas')).toBeGreaterThan(0);
    const asked = node.calls.find(({ method }) => method === 'eth_estimateGas')?.params ?? [];
    const [{ data }] = asked as [{ data: Hex }];
    await chain.send({ from: account(5).address, to: USDC, data, gas: numberToHex(200_000) });
    await expectPaidOnce(agent);
    const [payout] = await payoutsOf(db.sql, agent.agentId);
    const [transfer] = await chain.transferLogs({ from: agent.wallet });
    expect(payout?.txHash).toBe(transfer?.txHash);
  });

  it('a payout that the reconciler has missed is found by its next attempt', async () => {
    await using server = await start();
    const agent = await funded(server);
    node.mode = { kind: 'lying', method: 'eth_getLogs', result: [] };
    await close(server.api, developer, agent.agentId);
    await eventually(() => stateOf(agent.agentId)).toBe('submitted');
    // Blocks whose headers say that they have no logs: nothing proves that those before them have some.
    await chain.mine(40);
    const { number } = await chain.head();
    await eventually(async () => {
      const [cursor] = await db.sql`select block_number from chain_cursors`;
      return Number(cursor?.block_number);
    }).toBeGreaterThanOrEqual(number);
    node.mode = { kind: 'up' };
    await makeDue(db.sql);
    await expectPaidOnce(agent);
  });

  it('a payout that the token refuses raises an alarm, and is paid when the token accepts it', async () => {
    await using server = await start();
    const agent = await funded(server);
    const say = async (call: 'blacklist' | 'unBlacklist') => {
      const abi = parseAbi(['function blacklist(address)', 'function unBlacklist(address)']);
      const args = [developer.owner.address] as const;
      const data = encodeFunctionData({ abi, functionName: call, args });
      const from = account(0).address;
      await chain.send({ from, to: USDC, data, gas: numberToHex(200_000) });
    };
    await say('blacklist');
    await close(server.api, developer, agent.agentId);
    const alarms = () => server.logged.filter(({ level }) => level === 50).map(({ msg }) => msg);
    await eventually(alarms).toContain('the token refuses a payout');
    expect(await stateOf(agent.agentId)).toBe('planned');
    await say('unBlacklist');
    await makeDue(db.sql);
    await expectPaidOnce(agent);
  });

  it('a payout is planned later when a process died right after closing the agent', async () => {
    await using server = await start();
    const agent = await funded(server);
    await db.sql.begin(async (tx) => {
      await tx`update agents set status = 'closed', closed_at = now() where id = ${agent.agentId}`;
      await bumpRules(tx, agent.agentId);
    });
    await expectPaidOnce(agent);
    expect(await owned()).toBe(1_000_000n);
  });

  it('a payout is submitted once when several processes look for payouts at the same time', async () => {
    const agents = await (async () => {
      await using server = await start();
      const first = await funded(server, 10_000n);
      const more = await Promise.all([20_000n, 30_000n, 40_000n].map(deposited));
      return [first, ...more];
    })();
    const { RPC_URL: _, ...without } = payingEnvironment(node.url);
    {
      await using chainless = await startPayingServer(db.target, without);
      await Promise.all(agents.map(({ agentId }) => close(chainless.api, developer, agentId)));
    }
    node.forget();
    const gas = {
      FACILITATOR_PRIVATE_KEY: payingEnvironment(node.url, 11).FACILITATOR_PRIVATE_KEY,
    };
    const servers = await Promise.all([start(), start(gas as Record<string, string>), start()]);
    await eventually(() => db.sql`select 1 from payouts where state <> 'done'`).toEqual([]);
    for (const [i, agent] of agents.entries()) {
      await expectPaidOnce(agent, BigInt(i + 1) * 10_000n);
    }
    expect(node.count('eth_sendRawTransaction')).toBe(agents.length);
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  it('a payout that a chain reorganisation has undone is submitted again', async () => {
    await using replaced = await startChain();
    const environment = { RPC_URL: replaced.url };
    const agent = await (async () => {
      await using server = await start(environment);
      developer = await payingDeveloper(server.api);
      const made = await developer.createAgent();
      await replaced.fundUsdc(made.wallet, 1_000_000n);
      await eventually(async () => (await booksOf(db.sql, made.agentId)).walletRaw).toBe(
        1_000_000n,
      );
      await replaced.mine(3);
      await close(server.api, developer, made.agentId);
      await eventually(() => stateOf(made.agentId)).toBe('done');
      return made;
    })();
    await replaced.reorg(2);
    await replaced.mine(3);
    expect(await replaced.usdcOf(developer.owner.address)).toBe(0n);
    await using server = await start(environment);
    await eventually(() => replaced.usdcOf(developer.owner.address)).toBe(1_000_000n);
    expect(await replaced.transferLogs({ from: agent.wallet })).toHaveLength(1);
    await expectAgreement(db.sql, replaced);
    const told = 'a payout has left the chain; it is handed over again';
    expect(server.logged.map(({ msg }) => msg)).toContain(told);
  });
});
