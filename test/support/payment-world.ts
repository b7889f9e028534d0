import type { ServerDeps } from '../../src/app/build/world.ts';
import { PAYMENT_LIMITS } from '../../src/payments/limits.ts';
import { type Chain, startChain } from './chain/chain.ts';
import { type EvilVendor, startEvilVendor } from './chain/evil-vendor.ts';
import {
  type Ask,
  ask,
  type Developer,
  newDeveloper,
  startWorld,
  type Told,
  type WholeWorld,
} from './whole-world.ts';

/** An agent with a key, and USDC in its wallet that has been credited. */
export type PayingAgent = {
  readonly agentId: number;
  readonly wallet: string;
  readonly key: string;
  /** `POST /v1/proxy/fetch` with this agent's key. */
  fetch(
    request: string | { readonly url: string; readonly [field: string]: unknown },
    headers?: Readonly<Record<string, string>>,
  ): Promise<Told>;
  /** Any route with this agent's key. */
  ask(path: string, request?: Ask): Promise<Told>;
  /** The same of its developer, below the agent's own path. */
  askAsOwner(path: string): Promise<Told>;
};

export type PaymentWorld = AsyncDisposable & {
  readonly chain: Chain;
  readonly vendor: EvilVendor;
  readonly world: WholeWorld;
  /** An agent of a developer of its own. */
  payer(name: string, amountRaw?: bigint): Promise<PayingAgent>;
};

/** What lets a server pay on a local chain, and read it often. */
export const payingEnvironment = (rpcUrl: string): Record<string, string> => ({
  RPC_URL: rpcUrl,
  SSRF_ALLOW_LOCALHOST: '1',
  RECONCILE_SECONDS: '0.1',
  CHAIN_CONFIRMATIONS: '0',
  CHAIN_CLOCK_SKEW_SECONDS: '100000',
});

/** The whole server beside a chain and a vendor, in this process. */
export async function startPaymentWorld(
  environment: Record<string, string> = {},
  deps: Partial<ServerDeps> = {},
): Promise<PaymentWorld> {
  const chain = await startChain({});
  const vendor = await startEvilVendor(chain);
  const world = await startWorld({ ...payingEnvironment(chain.url), ...environment }, deps);
  return {
    chain,
    vendor,
    world,
    async payer(name, amountRaw = 1_000_000n) {
      const developer = await newDeveloper(world.api, `owner of ${name}`);
      return fundPayer({ chain, developer, ...world }, name, amountRaw);
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await vendor[Symbol.asyncDispose]();
      await chain[Symbol.asyncDispose]();
    },
  };
}

/** A process that a test kills while it reads the chain keeps its claim until that lapses. */
const DEPOSIT_SEEN_MS = PAYMENT_LIMITS.chain.claimMs + 10_000;

/** A new agent, once the server has seen its deposit. */
export async function fundPayer(
  {
    chain,
    developer,
    url,
    sql,
  }: Pick<WholeWorld, 'url' | 'sql'> & {
    readonly chain: Chain;
    readonly developer: Developer;
  },
  name: string,
  amountRaw: bigint,
): Promise<PayingAgent> {
  const agentId = await developer.createAgent(name);
  const { key } = await developer.mintKey(agentId);
  const wallet = await walletOf(sql, agentId);
  if (amountRaw > 0n) {
    // A chain that was never read is read from its head on: a deposit below it would not be seen.
    await until(() => isRead(sql), DEPOSIT_SEEN_MS);
    await chain.fundUsdc(wallet as `0x${string}`, amountRaw);
    const isCredited = async () => (await fundsOf(sql, agentId)).wallet >= amountRaw;
    await until(isCredited, DEPOSIT_SEEN_MS, () => 'the credit of a deposit');
  }
  const authorization = `Bearer ${key}`;
  return {
    agentId,
    wallet,
    key,
    fetch: (request, headers = {}) =>
      ask(`${url}/v1/proxy/fetch`, {
        headers: { authorization, ...headers },
        body: typeof request === 'string' ? { url: request } : request,
      }),
    ask: (path, request = {}) =>
      ask(`${url}${path}`, { ...request, headers: { authorization, ...request.headers } }),
    askAsOwner: (path) =>
      ask(`${url}/v1/developer/agents/${agentId}${path}`, { headers: developer.headers }),
  };
}

async function isRead(sql: WholeWorld['sql']): Promise<boolean> {
  return (await sql`select 1 from chain_cursors where block_number >= 0`).length > 0;
}

async function walletOf(sql: WholeWorld['sql'], agentId: number): Promise<string> {
  const [row] = await sql<{ wallet: string }[]>`
    select wallet_address as wallet from agents where id = ${agentId}`;
  if (row === undefined) throw new Error('no such agent');
  return row.wallet;
}

export type Funds = {
  readonly spendable: bigint;
  readonly held: bigint;
  readonly wallet: bigint;
  readonly promised: bigint;
};

/** An agent's row. */
export async function fundsOf(sql: WholeWorld['sql'], agentId: number): Promise<Funds> {
  const [row] = await sql<Funds[]>`
    select spendable_raw as spendable, held_raw as held, wallet_raw as wallet, promised_raw as promised
    from agent_funds where agent_id = ${agentId}`;
  if (row === undefined) throw new Error('no such agent');
  return row;
}

/** Waits until it is so. */
export async function until(
  isSo: () => Promise<boolean>,
  withinMs = 10_000,
  what: () => string = () => 'what was waited for',
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`${what()} did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
