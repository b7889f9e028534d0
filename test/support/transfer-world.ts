import { encodeFunctionData, type Hex, numberToHex } from 'viem';
import { booksOf } from './chain/books.ts';
import { type Chain, startChain } from './chain/chain.ts';
import { USDC, USDC_ABI } from './chain/eip3009.ts';
import {
  type PayingDeveloper,
  type PayingServer,
  payingDeveloper,
  payingEnvironment,
  startPayingServer,
  type WalletAgent,
} from './chain/paying-server.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { until } from './payment-world.ts';
import { edwardsKey, type RampPeer, startRampPeer } from './ramp-peer.ts';

/** Patience with the reading of the chain on a busy machine. */
const CREDITED_MS = 30_000;

export type Told = { readonly status: number; readonly body: Record<string, unknown> };

/** The server with a chain and a provider of the ramp, spoken to over HTTP. */
export type TransferWorld = AsyncDisposable & {
  readonly chain: Chain;
  readonly db: TestDatabase;
  readonly server: PayingServer;
  readonly peer: RampPeer;
  developer(): Promise<PayingDeveloper>;
  /** An agent whose deposit has been credited. */
  funded(developer: PayingDeveloper, raw: bigint): Promise<WalletAgent>;
  /** One request in the name of a developer, or with other headers. */
  ask(
    who: { readonly headers: Record<string, string> },
    call: `GET ${string}` | `POST ${string}`,
    body?: unknown,
  ): Promise<Told>;
  /** A transfer of USDC from a wallet that is none of this server's. Returns its transaction. */
  sendFrom(from: string, to: string, raw: bigint): Promise<Hex>;
};

export async function startTransferWorld(
  environment: Record<string, string> = {},
): Promise<TransferWorld> {
  const key = edwardsKey();
  const [chain, db, peer] = await Promise.all([startChain(), testDatabase(), startRampPeer(key)]);
  const server = await startPayingServer(db.target, {
    ...payingEnvironment(chain.url),
    ONRAMP_KEY_ID: key.id,
    ONRAMP_KEY_SECRET: key.secret,
    ONRAMP_BASE_URL: peer.origin,
    ONRAMP_PAGE_URL: 'https://pay.example',
    ...environment,
  });
  return {
    chain,
    db,
    server,
    peer,
    developer: () => payingDeveloper(server.api),
    async funded(developer, raw) {
      const agent = await developer.createAgent();
      await chain.fundUsdc(agent.wallet, raw);
      await until(
        async () => (await booksOf(db.sql, agent.agentId)).walletRaw === raw,
        CREDITED_MS,
      );
      return agent;
    },
    async ask({ headers }, call, body) {
      const [method = '', path = ''] = call.split(' ');
      const answer = await fetch(`${server.api.baseUrl}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    sendFrom: (from, to, raw) => sendFrom(chain, from as Hex, to as Hex, raw),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Promise.all([
        chain[Symbol.asyncDispose](),
        db[Symbol.asyncDispose](),
        peer[Symbol.asyncDispose](),
      ]);
    },
  };
}

const ETHER = 10n ** 18n;

async function sendFrom(chain: Chain, from: Hex, to: Hex, raw: bigint): Promise<Hex> {
  await chain.node.ask('anvil_impersonateAccount', from);
  await chain.node.ask('anvil_setBalance', from, numberToHex(ETHER));
  const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [to, raw] });
  return chain.send({ from, to: USDC, data });
}
