import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import {
  booksOf,
  eventually,
  expectAgreement,
  makeDue,
  payoutsOf,
} from '../support/chain/books.ts';
import { type Chain, startChain } from '../support/chain/chain.ts';
import {
  close,
  type PayingDeveloper,
  payingDeveloper,
  payingEnvironment,
  type WalletAgent,
} from '../support/chain/paying-server.ts';
import { type RpcProxy, startRpcProxy } from '../support/chain/rpc-proxy.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

/** A process that is killed at any step of a payout leaves it to the next, and it is paid exactly once. */

let chain: Chain;
let node: RpcProxy;
let place: ProcessPlace;

beforeAll(async () => {
  [chain, place] = await Promise.all([startChain(), processPlace()]);
  node = await startRpcProxy(chain.url);
});
afterAll(async () => {
  await Promise.all([node[Symbol.asyncDispose](), place[Symbol.asyncDispose]()]);
  await chain[Symbol.asyncDispose]();
});
afterEach(async () => {
  node.mode = { kind: 'up' };
  await chain.setAutomine(true);
});

const start = () =>
  startServerProcess({ ...place.environment, ...payingEnvironment(node.url), LOG_LEVEL: 'info' });

const SEND = 'eth_sendRawTransaction';
const RAW = 1_250_000n;

/** With the embedded database the server owns it, so that it is looked into while one runs. */
async function withSql<T>(look: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openSql(place.target, 2);
  try {
    return await look(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** A process that died while it read the chain keeps its claim for another minute; this test does not wait for that. */
const forgetReader = (sql: Sql) => sql`update chain_cursors set claimed_until = null`;

type Scene = { readonly agent: WalletAgent; readonly developer: PayingDeveloper };

async function funded(server: ServerProcess): Promise<Scene> {
  await withSql(forgetReader);
  const developer = await payingDeveloper(createApi(server.url));
  const agent = await developer.createAgent();
  await chain.fundUsdc(agent.wallet, RAW);
  await withSql(async (sql) => {
    await eventually(async () => (await booksOf(sql, agent.agentId)).spendableRaw).toBe(RAW);
  });
  return { agent, developer };
}

/** Another process is started after the first has died, and comes to the same end as if it had not. */
async function expectPaidOnce(...scenes: readonly Scene[]): Promise<void> {
  node.mode = { kind: 'up' };
  await using server = await start();
  await withSql(async (sql) => {
    await Promise.all([makeDue(sql), forgetReader(sql)]);
    for (const { agent } of scenes) {
      const states = async () => (await payoutsOf(sql, agent.agentId)).map(({ state }) => state);
      await eventually(states).toEqual(['done']);
    }
    for (const { agent, developer } of scenes) {
      expect(await chain.transferLogs({ from: agent.wallet })).toMatchObject([{ value: RAW }]);
      expect(await chain.usdcOf(developer.owner.address)).toBe(RAW);
    }
    await expectAgreement(sql, chain);
  });
  for (const { agent, developer } of scenes) {
    expect(await close(createApi(server.url), developer, agent.agentId)).toMatchObject({
      usdcTransferred: RAW.toString(),
    });
  }
}

describe('a process that is killed', { timeout: 180_000 }, () => {
  it('a process killed between planning a payout and sending it has not lost the payout', async () => {
    await using server = await start();
    const scene = await funded(server);
    node.forget();
    node.mode = { kind: 'silent', methods: [SEND] };
    const asked = close(createApi(server.url), scene.developer, scene.agent.agentId);
    asked.catch(() => undefined);
    await eventually(() => node.count(SEND)).toBe(1);
    await withSql(async (sql) => {
      expect(await payoutsOf(sql, scene.agent.agentId)).toMatchObject([{ state: 'planned' }]);
    });
    await server.kill();
    await expectPaidOnce(scene);
  });

  it('a process killed between sending a payout and recording that does not pay it again', async () => {
    await using server = await start();
    const scene = await funded(server);
    node.mode = { kind: 'swallowing', methods: [SEND] };
    await chain.setAutomine(false);
    const asked = close(createApi(server.url), scene.developer, scene.agent.agentId);
    asked.catch(() => undefined);
    const waiting = () => chain.node.ask<{ pending: string }>('txpool_status');
    await eventually(waiting).toMatchObject({ pending: '0x1' });
    await withSql(async (sql) => {
      expect(await payoutsOf(sql, scene.agent.agentId)).toMatchObject([{ state: 'planned' }]);
    });
    await server.kill();
    await chain.setAutomine(true);
    await chain.mine();
    expect(await chain.usdcOf(scene.developer.owner.address)).toBe(RAW);
    await expectPaidOnce(scene);
  });

  it('a process killed after sending a payout and followed by another attempt before mining does not pay it again', async () => {
    await using server = await start();
    const scene = await funded(server);
    node.mode = { kind: 'swallowing', methods: [SEND] };
    await chain.setAutomine(false);
    const asked = close(createApi(server.url), scene.developer, scene.agent.agentId);
    asked.catch(() => undefined);
    const waiting = () => chain.node.ask<{ pending: string }>('txpool_status');
    await eventually(waiting).toMatchObject({ pending: '0x1' });
    await server.kill();
    node.mode = { kind: 'up' };
    {
      await using next = await start();
      await withSql(async (sql) => {
        await makeDue(sql);
        const attempts = async () => (await payoutsOf(sql, scene.agent.agentId))[0]?.attempts;
        await eventually(attempts).toBe(2);
      });
      expect(await next.stop()).toBe(0);
    }
    await chain.setAutomine(true);
    await chain.mine(2);
    await expectPaidOnce(scene);
  });

  it('processes killed again and again at any moment pay each agent’s payout once', async () => {
    const scenes: Scene[] = [];
    for (let round = 0; round < 3; round++) {
      await using server = await start();
      const scene = await funded(server);
      scenes.push(scene);
      await withSql((sql) => makeDue(sql));
      const asked = close(createApi(server.url), scene.developer, scene.agent.agentId);
      asked.catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20 * 3 ** round));
      await server.kill();
    }
    const closing = await start();
    for (const { agent, developer } of scenes) {
      await close(createApi(closing.url), developer, agent.agentId);
    }
    await closing.kill();
    await expectPaidOnce(...scenes);
  });
});
