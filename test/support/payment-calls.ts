import { createApi } from '../../src/app/commands/demo/api.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import type { Chain } from './chain/chain.ts';
import type { EvilVendor } from './chain/evil-vendor.ts';
import type { HeldServer } from './held-server.ts';
import { DEPOSIT_RAW, type Row, scriptOf } from './payment-battery.ts';
import { until } from './payment-world.ts';
import { ask, newDeveloper, type Told } from './whole-world.ts';

/** One row under way: an agent of its own, a vendor of its own, and what was heard so far. */
export type Call = {
  readonly row: Row;
  readonly agentId: number;
  readonly wallet: `0x${string}`;
  readonly agentKey: string;
  /** What is bought. */
  readonly url: string;
  /** The last answer; undefined where none came. */
  told: Told | undefined;
  /** What was seen on the way and may not be. */
  readonly oddities: string[];
};

/** A server that lives now, and its database as it is reached while it does. */
export type Life = { readonly server: HeldServer; readonly sql: Sql };

export type Stage = { readonly chain: Chain; readonly vendor: EvilVendor; life: Life };

const AT_ONCE = 8;

/** An agent and a vendor a row, with a deposit that has been credited. */
export async function prepare(stage: Stage, rows: readonly Row[]): Promise<Call[]> {
  const { chain, vendor, life } = stage;
  const { url } = life.server;
  const developer = await newDeveloper(createApi(url), `buyer ${url}`);
  const calls: Call[] = [];
  const left = [...rows.entries()];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [n, row] = next;
        const agentId = await developer.createAgent(`agent ${n}`);
        const { key: agentKey } = await developer.mintKey(agentId);
        const wallet = await walletOf(life.sql, agentId);
        const target = vendor.sell(scriptOf(row));
        calls.push({ row, agentId, wallet, agentKey, url: target, told: undefined, oddities: [] });
      }
    }),
  );
  await chainIsRead(life.sql);
  for (const { wallet } of calls) await chain.fundUsdc(wallet, DEPOSIT_RAW);
  await until(
    () => allFunded(life.sql),
    20_000,
    () => 'the deposits',
  );
  return calls;
}

async function walletOf(sql: Sql, agentId: number): Promise<`0x${string}`> {
  const [row] = await sql<{ wallet: `0x${string}` }[]>`
    select wallet_address as wallet from agents where id = ${agentId}`;
  if (row === undefined) throw new Error('no such agent');
  return row.wallet;
}

/** What is sent before the chain is read for the first time is never seen. */
const chainIsRead = (sql: Sql): Promise<void> =>
  until(async () => {
    const rows = await sql`select 1 from chain_cursors where block_number >= 0`;
    return rows.length > 0;
  });

async function allFunded(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ missing: number }[]>`
    select count(*)::int as missing from agent_funds where wallet_raw < ${String(DEPOSIT_RAW)}`;
  return row?.missing === 0;
}

const keyOf = ({ agentId }: Call): string => `key of ${agentId}`;

/** Sends the call, again with the same key where it has one. Undefined: the connection broke. */
export async function send({ life }: Stage, call: Call): Promise<Told | undefined> {
  const key = call.row.keyed ? { 'idempotency-key': keyOf(call) } : undefined;
  const headers = { authorization: `Bearer ${call.agentKey}`, ...key };
  try {
    const body = { url: call.url, method: 'POST', body: '{"q":1}' };
    return await ask(`${life.server.url}/v1/proxy/fetch`, { headers, body });
  } catch {
    return undefined;
  }
}

export const isInFlight = (told: Told | undefined): boolean =>
  told?.status === 409 && told.body.error === 'request_in_flight';

/** Asks under the key until it is decided. */
export async function sendUntilDecided(stage: Stage, call: Call): Promise<Told | undefined> {
  const end = performance.now() + DECIDED_WITHIN_MS;
  for (;;) {
    const told = await send(stage, call);
    if (!isInFlight(told) || performance.now() > end) return told;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

const DECIDED_WITHIN_MS = 30_000;
