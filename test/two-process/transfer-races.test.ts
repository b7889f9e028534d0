import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, createApi } from '../../src/app/commands/demo/api.ts';
import { openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import { type Chance, seededChance, seedsToRun } from '../simulation/seeded.ts';
import { booksOf, expectAgreement, makeDue } from '../support/chain/books.ts';
import { type Chain, startChain } from '../support/chain/chain.ts';
import { type EvilVendor, startEvilVendor } from '../support/chain/evil-vendor.ts';
import {
  creditByAdmin,
  payingDeveloper,
  payingEnvironment,
  type WalletAgent,
} from '../support/chain/paying-server.ts';
import { type RpcMode, type RpcProxy, startRpcProxy } from '../support/chain/rpc-proxy.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { until } from '../support/payment-world.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';
import { edwardsKey, type RampPeer, startRampPeer } from '../support/ramp-peer.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

/** Transfers and cash-outs race paid calls and each other on two servers, which are killed and whose nodes lie. */

const OPERATIONS = exhaustive ? 500 : 80;
const KILLS = exhaustive ? 3 : 2;
const DEVELOPERS = exhaustive ? 8 : 4;
const AGENTS = 3;
const KEYS = 5;
const AT_A_TIME = 16;
const DEPOSIT = 600_000n;
const UNBACKED = 300_000n;
const PATIENCE_MS = 180_000;

type Developer = {
  readonly wallet: string;
  readonly keys: readonly Record<string, string>[];
  readonly agents: readonly WalletAgent[];
};

type Told = { readonly status: number; readonly body: Record<string, unknown> };

let chain: Chain;
let vendor: EvilVendor;
let place: ProcessPlace;
let peer: RampPeer;
let nodes: readonly [RpcProxy, RpcProxy];
let servers: [ServerProcess, ServerProcess];
let sql: Sql;
const key = edwardsKey();

const startServer = (nth: 0 | 1): Promise<ServerProcess> =>
  startServerProcess({
    ...place.environment,
    ...payingEnvironment(nodes[nth].url, 10 + nth),
    ONRAMP_KEY_ID: key.id,
    ONRAMP_KEY_SECRET: key.secret,
    ONRAMP_BASE_URL: peer.origin,
    LOG_LEVEL: 'info',
  });

beforeAll(async () => {
  [chain, place, peer] = await Promise.all([startChain(), processPlace(), startRampPeer(key)]);
  vendor = await startEvilVendor(chain);
  nodes = [await startRpcProxy(chain.url), await startRpcProxy(chain.url)];
  servers = await Promise.all([startServer(0), startServer(1)]);
  sql = openSql(place.target, 4);
}, PATIENCE_MS);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await sql.end({ timeout: 1 });
  await Promise.all([vendor, peer, place, ...nodes].map((part) => part[Symbol.asyncDispose]()));
  await chain[Symbol.asyncDispose]();
});

/** A developer with several keys, since each may ask 100 times a minute, and with agents that have deposits. */
async function newDeveloper(): Promise<Developer> {
  const api = createApi(servers[0].url);
  const made = await payingDeveloper(api);
  const keys = [made.headers];
  while (keys.length < KEYS) {
    const options = { headers: made.headers, body: { permissions: 'read_write' } };
    keys.push(bearer((await api.call<{ key: string }>('POST', '/v1/developer/keys', options)).key));
  }
  const agents: WalletAgent[] = [];
  while (agents.length < AGENTS) agents.push(await made.createAgent());
  for (const { wallet } of agents) await chain.fundUsdc(wallet, DEPOSIT);
  for (const { agentId } of agents) {
    const isCredited = async () => (await booksOf(sql, agentId)).walletRaw === DEPOSIT;
    await until(isCredited, PATIENCE_MS, () => 'a deposit');
  }
  const [first] = agents;
  if (first !== undefined)
    await creditByAdmin(api, first.agentId, UNBACKED, `unbacked-${first.agentId}`);
  return { wallet: made.owner.address, keys, agents };
}

/** One request at one of the servers. Undefined when the server died or did not answer. */
async function ask(
  nth: number,
  headers: Record<string, string>,
  path: string,
  body: object = {},
): Promise<Told | undefined> {
  try {
    const answer = await fetch(`${servers[nth]?.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : {} };
  } catch {
    return undefined;
  }
}

/** Answers that servers gave for good, by the transfer that they are about. */
type Heard = { readonly moved: Set<string>; readonly refused: Set<string>; calls: number };

/** Prepares three transfers of one agent, of which not all can be paid, and executes them at the same time. */
async function transfers(chance: Chance, developer: Developer, heard: Heard): Promise<void> {
  const headers = chance.pick(developer.keys);
  const [from, to] = [chance.pick(developer.agents), chance.pick(developer.agents)];
  const out = { direction: 'from_agent', agentId: from.agentId };
  const ids = { agentId: from.agentId, toAgentId: to.agentId };
  const across = { direction: 'agent_to_agent', ...ids };
  const prepared = await Promise.all(
    [1, 2, 3].map(() => {
      const amountRaw = String(1 + chance.below(300_000));
      const body = { ...(from === to ? out : across), amountRaw };
      return ask(chance.below(2), headers, '/v1/transfers/prepare', body);
    }),
  );
  const ready = prepared.flatMap((told) => (told?.status === 200 ? [told.body.transferId] : []));
  await Promise.all(ready.map((id) => execute(String(id), headers, heard)));
}

/** Executes a transfer at both servers at once, until one of them has said what became of it. */
async function execute(id: string, headers: Record<string, string>, heard: Heard): Promise<void> {
  const path = `/v1/transfers/${id}/execute`;
  for (let tries = 0; tries < 6; tries++) {
    const told = await Promise.all([0, 1].map((nth) => ask(nth, headers, path)));
    if (told.some((answer) => answer?.status === 200)) heard.moved.add(id);
    // One server may refuse what the other carries out a moment later.
    if (told.every((answer) => answer?.status === 409)) heard.refused.add(id);
    if (told.some((answer) => answer !== undefined && answer.status < 500)) return;
  }
}

async function operate(chance: Chance, developers: readonly Developer[], heard: Heard) {
  const developer = chance.pick(developers);
  const agent = chance.pick(developer.agents);
  const kind = chance.below(10);
  if (kind < 4) return transfers(chance, developer, heard);
  if (kind < 6) {
    const amountRaw = String(1 + chance.below(200_000));
    const body = { sourceKind: 'agent_wallet', agentId: agent.agentId, amountRaw };
    await ask(chance.below(2), chance.pick(developer.keys), '/v1/offramp/start', body);
    return;
  }
  const url = vendor.sell({ priceRaw: BigInt(1 + chance.below(40_000)) });
  const answer = await ask(chance.below(2), bearer(agent.agentKey), '/v1/proxy/fetch', { url });
  if (answer?.status === 200) heard.calls++;
}

const SEND = ['eth_sendRawTransaction'];

/** The next lie of a node. */
async function nextMode(chance: Chance): Promise<RpcMode> {
  const { number } = await chain.head();
  return chance.pick<RpcMode>([
    { kind: 'up' },
    { kind: 'up' },
    { kind: 'slow', byMs: 40 },
    { kind: 'failing', methods: SEND },
    { kind: 'swallowing', methods: SEND },
    { kind: 'failing', methods: ['eth_getLogs'] },
    { kind: 'cutting', by: 2 },
    { kind: 'denying', since: Math.max(1, number - 3) },
    { kind: 'lagging', head: Math.max(1, number - 2), of: 'state' },
    { kind: 'lying', method: 'eth_getTransactionReceipt', result: null },
    { kind: 'garbage' },
    { kind: 'down' },
  ]);
}

/** Kills a server with SIGKILL and starts it again, with an honest node while it starts. */
async function killAndStart(nth: 0 | 1): Promise<void> {
  await servers[nth].kill();
  nodes[nth].mode = { kind: 'up' };
  await sql`update chain_cursors set claimed_until = null`;
  servers[nth] = await startServer(nth);
}

/** Runs all operations, a bounded number at a time, while nodes lie and servers are killed one after the other. */
async function storm(seed: number, developers: readonly Developer[]): Promise<Heard> {
  const chance = seededChance(seed);
  const heard: Heard = { moved: new Set(), refused: new Set(), calls: 0 };
  let begun = 0;
  let isOver = false;
  const lies = (async () => {
    while (!isOver) {
      for (const node of nodes) node.mode = await nextMode(chance);
      await makeDue(sql);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  })();
  const kills = (async () => {
    for (let nth = 1; nth <= KILLS; nth++) {
      const isDue = async () => begun >= Math.min(OPERATIONS, (OPERATIONS * nth) / KILLS - 8);
      await until(isDue, PATIENCE_MS, () => 'the next kill');
      await killAndStart(nth % 2 === 0 ? 0 : 1);
    }
  })();
  const one = async () => {
    while (begun < OPERATIONS) {
      begun++;
      await operate(chance, developers, heard);
    }
  };
  await Promise.all([kills, ...Array.from({ length: AT_A_TIME }, one)]);
  isOver = true;
  await lies;
  for (const node of nodes) node.mode = { kind: 'up' };
  return heard;
}

/** Waits until the chain has decided everything that was begun. */
async function settle(): Promise<void> {
  await sql`update chain_cursors set claimed_until = null`;
  // The signatures of calls that were killed are void by then.
  await chain.travel(400);
  const isDone = async () => {
    await makeDue(sql);
    await sql`update cash_outs set next_at = now() where state in ('created', 'leg1_pending')`;
    await chain.mine();
    const [open] = await sql<{ count: number }[]>`
      select ((select count(*) from payouts where state <> 'done')
        + (select count(*) from reservations where decided_at is null)
        + (select count(*) from cash_outs where state in ('created', 'leg1_pending')))::int as count`;
    if (open?.count !== 0) return false;
    const rows = await sql<{ wallet: `0x${string}`; book: bigint }[]>`
      select a.wallet_address as wallet, f.wallet_raw as book
      from agents a join agent_funds f on f.agent_id = a.id`;
    for (const { wallet, book } of rows) if ((await chain.usdcOf(wallet)) !== book) return false;
    return true;
  };
  await until(isDone, PATIENCE_MS, () => 'the end of all payments');
}

type Moved = { readonly from: string; readonly to: string; readonly value: bigint };
const sorted = (moves: readonly Moved[]) =>
  moves.map(({ from, to, value }) => `${from} ${to} ${value}`.toLowerCase()).sort();

describe('transfers and cash-outs on two servers', { timeout: 600_000 }, () => {
  it.each(seedsToRun(1))(
    'transfers, cash-outs and paid calls on killed servers with lying nodes move each amount once (seed %i)',
    async (seed) => {
      const developers = await Promise.all(Array.from({ length: DEVELOPERS }, newDeveloper));
      const heard = await storm(seed, developers);
      await settle();
      await expectAgreement(sql, chain);

      const payouts = await sql<(Moved & { nonce: string; transfer: string })[]>`
        select p.nonce, p.wallet as from, p.payee as to, p.amount_raw as value, t.id as transfer
        from payouts p join transfers t on t.nonce = p.nonce`;
      const paid = await sql<Moved[]>`
        select wallet as from, payee as to, value_raw as value from reservations where state = 'settled'`;
      const wallets = new Set(
        developers.flatMap(({ agents }) => agents.map(({ wallet }) => wallet.toLowerCase())),
      );
      const logs = (await chain.transferLogs({})).filter(({ from }) =>
        wallets.has(from.toLowerCase()),
      );
      expect(sorted(logs)).toEqual(sorted([...payouts, ...paid]));

      const executed = new Set(payouts.map(({ transfer }) => transfer));
      expect([...heard.moved].filter((id) => !executed.has(id))).toEqual([]);
      expect([...heard.refused].filter((id) => executed.has(id))).toEqual([]);
      for (const { wallet } of developers) {
        const own = payouts.filter(({ to }) => to === wallet);
        const sumRaw = own.reduce((sum, { value }) => sum + value, 0n);
        expect(await chain.usdcOf(wallet as `0x${string}`)).toBe(sumRaw);
      }
      const [lowest] = await sql<{ spendable: bigint; held: bigint; promised: bigint }[]>`
        select min(spendable_raw) as spendable, min(held_raw) as held, max(promised_raw) as promised from agent_funds`;
      expect(lowest).toMatchObject({ held: 0n, promised: 0n });
      expect(lowest?.spendable).toBeGreaterThanOrEqual(0n);
      // The race has had all kinds of ends.
      expect(heard.moved.size).toBeGreaterThan(OPERATIONS / 10);
      if (exhaustive) expect(heard.refused.size).toBeGreaterThan(0);
      expect(heard.calls).toBeGreaterThan(0);
      const [orders] = await sql<{ count: number }[]>`
        select count(*)::int as count from cash_outs where state <> 'failed'`;
      expect(orders?.count).toBeGreaterThan(0);
    },
  );
});
