import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { bytesToHex, type Hex } from 'viem';
import { type Api, bearer, createApi } from '../../../src/app/commands/demo/api.ts';
import { completeSettings } from '../../../src/app/local-secrets.ts';
import { type Server, startServer } from '../../../src/app/server.ts';
import { readConfig } from '../../../src/config/config.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import type { DatabaseTarget } from '../../../src/platform/postgres/sql.ts';
import { type TestWallet, testWallet } from '../wallet.ts';
import { account } from './chain.ts';

export const ADMIN_KEY = 'admin-key-of-the-payment-tests';

/** What a server that pays needs to be told; the same for every process on one database. */
export function payingEnvironment(rpcUrl: string, gas = 10): Record<string, string> {
  return {
    RPC_URL: rpcUrl,
    RECONCILE_SECONDS: '0.2',
    CHAIN_CONFIRMATIONS: '0',
    // A local chain without transactions stands still.
    CHAIN_CLOCK_SKEW_SECONDS: '100000',
    ADMIN_API_KEY: ADMIN_KEY,
    JWT_SECRET: 'j'.repeat(32),
    API_KEY_HMAC_SECRET: 'h'.repeat(32),
    MANAGED_WALLET_APP_ID: 'local',
    MANAGED_WALLET_APP_SECRET: 's'.repeat(32),
    MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: 'k'.repeat(32),
    FACILITATOR_PRIVATE_KEY: gasKey(gas),
    SSRF_ALLOW_LOCALHOST: '1',
  };
}

/** The key of an account of the local chain that has ether. */
function gasKey(index: number): Hex {
  return bytesToHex(account(index).getHdKey().privateKey as Uint8Array);
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string };

export type PayingServer = AsyncDisposable & {
  readonly api: Api;
  /** Everything it logged from `warn` on. */
  readonly logged: readonly LogLine[];
};

/** The server as an operator has it, in this process; a second one on the same database is a second process. */
export async function startPayingServer(
  database: DatabaseTarget,
  environment: Record<string, string>,
): Promise<PayingServer> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-paying-'));
  const config = readConfig({ DATABASE_URL: join(directory, 'db'), ...environment });
  const { settings } = completeSettings(config, systemRandom);
  const logged: LogLine[] = [];
  const log = pino(
    { level: 'warn', base: null },
    { write: (line) => logged.push(JSON.parse(line)) },
  );
  const server: Server = await startServer({
    settings,
    database,
    port: 0,
    log,
    secret: () => undefined,
    clock: systemClock,
    random: systemRandom,
  });
  return {
    api: createApi(server.url),
    logged,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type WalletAgent = {
  readonly agentId: number;
  readonly agentKey: string;
  /** Lower case. */
  readonly wallet: Hex;
};

export type PayingDeveloper = {
  readonly owner: TestWallet & { readonly address: Hex };
  readonly headers: Record<string, string>;
  createAgent(): Promise<WalletAgent>;
};

let developers = 0;

/** A developer of its own, who makes agents over HTTP. */
export async function payingDeveloper(api: Api): Promise<PayingDeveloper> {
  const owner = testWallet(`payee ${process.pid} ${++developers}`);
  const made = await api.call<{ key: string }>('POST', '/v1/developer/keys', {
    headers: await owner.headers(Date.now()),
    body: { permissions: 'read_write' },
  });
  const headers = bearer(made.key);
  let agents = 0;
  return {
    owner: owner as PayingDeveloper['owner'],
    headers,
    async createAgent() {
      const body = { name: `agent ${++agents}`, maxRateBps: 1_000, expirySeconds: 86_400 };
      const path = '/v1/developer/agents';
      const { agentId, managedWalletAddress: wallet } = await api.call<{
        agentId: number;
        managedWalletAddress: Hex;
      }>('POST', path, { headers, body });
      const { key: agentKey } = await api.call<{ key: string }>('POST', `${path}/${agentId}/keys`, {
        headers,
        body: {},
      });
      return { agentId, agentKey, wallet };
    },
  };
}

export const creditByAdmin = (api: Api, agentId: number, amountRaw: bigint, reference: string) =>
  api.call('POST', `/v1/admin/agents/${agentId}/credit`, {
    headers: { 'x-admin-key': ADMIN_KEY },
    body: { amountRaw: amountRaw.toString(), reference },
  });

/** What a close answers of money. */
export type CloseAnswer = {
  readonly status: string;
  readonly transferTxHash: string | null;
  readonly usdcTransferred: string | null;
};

export const close = (api: Api, developer: PayingDeveloper, agentId: number) =>
  api.call<CloseAnswer>('POST', `/v1/developer/agents/${agentId}/close`, {
    headers: developer.headers,
    body: {},
  });
