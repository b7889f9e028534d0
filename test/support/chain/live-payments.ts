import { createHash, randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import { addressOfPrivateKey, signHash } from '../../../src/platform/chain/account.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { hashAuthorization, usdcDomain } from '../../../src/x402/authorization.ts';
import { seedAgents } from '../ledger-world.ts';
import { account, type Chain } from './chain.ts';
import { type Transfer, USDC } from './eip3009.ts';

/** An agent that can pay: USDC in a wallet of its own, on the chain and in the ledger. */
export type Payer = {
  readonly agentId: number;
  readonly keyId: number;
  /** Lower case. */
  readonly wallet: Hex;
  readonly privateKey: Uint8Array;
};

/** A payment that is held and signed, and that the vendor has not submitted yet. */
export type LivePayment = {
  readonly agentId: number;
  readonly transfer: Transfer;
  readonly signature: Hex;
};

/** As many as are given to the node or the ledger at once. */
const AT_ONCE = 500;

const DOMAIN = usdcDomain(USDC);
const PAYEE = account(18).address.toLowerCase() as Hex;
const HOST = 'vendor.test';

/** Agents with wallets, funded without a log: no deposit is there to be credited a second time. */
export async function seedPayers(
  { sql, ledger, chain }: { readonly sql: Sql; readonly ledger: Ledger; readonly chain: Chain },
  count: number,
  fundsRaw: bigint,
): Promise<readonly Payer[]> {
  const agents = await seedAgents(sql, count);
  const payers: Payer[] = [];
  for (const agent of agents) {
    const privateKey = createHash('sha256').update(`payer ${agent.agentId}`).digest();
    const wallet = (await addressOfPrivateKey(privateKey)) as Hex;
    payers.push({ ...agent, wallet, privateKey });
  }
  const wallets = payers.map(({ agentId, wallet }) => ({ id: agentId, wallet }));
  await sql`update agents a set wallet_address = x.wallet
    from json_to_recordset(${JSON.stringify(wallets)}::text::json) as x(id integer, wallet text)
    where a.id = x.id`;
  await inGroups(payers, async ({ agentId, wallet }) => {
    await chain.setUsdc(wallet, fundsRaw);
    await ledger.credit({ agentId, amountRaw: fundsRaw, reference: `f ${agentId}`, deposit: true });
  });
  return payers;
}

/**
 * Payments of one raw unit each, by turns of the payers and by turns reserved, sent and pending, as vendors' answers
 * leave them.
 */
export async function openPayments(
  ledger: Ledger,
  payers: readonly Payer[],
  count: number,
  validBefore: number,
): Promise<readonly LivePayment[]> {
  const numbers = Array.from({ length: count }, (_, i) => i);
  return inGroups(numbers, async (i) => {
    const payer = payers[i % payers.length];
    if (payer === undefined) throw new Error('there is no payer');
    const nonce = `0x${randomBytes(32).toString('hex')}` as const;
    const signed = await sign(payer, nonce, validBefore);
    await hold(ledger, payer, signed, validBefore);
    const moves = [[], ['sent'], ['sent', 'pending_settlement']] as const;
    let from: 'reserved' | 'sent' | 'pending_settlement' = 'reserved';
    for (const to of moves[i % moves.length] ?? []) {
      await ledger.advance({ agentId: payer.agentId, holdId: nonce, move: { nonce, from, to } });
      from = to;
    }
    return signed;
  });
}

async function sign(payer: Payer, nonce: Hex, validBefore: number): Promise<LivePayment> {
  const { agentId, wallet, privateKey } = payer;
  const sent = { from: wallet, to: PAYEE, nonce };
  const digest = await hashAuthorization(DOMAIN, {
    ...sent,
    valueRaw: 1n,
    validAfter: 0,
    validBefore,
  });
  const transfer = { ...sent, value: 1n, validAfter: 0n, validBefore: BigInt(validBefore) };
  return { agentId, transfer, signature: signHash(digest, privateKey) as Hex };
}

async function hold(
  ledger: Ledger,
  { agentId, keyId, wallet }: Payer,
  { transfer: { nonce }, signature }: LivePayment,
  validBefore: number,
): Promise<void> {
  const verdict = await ledger.hold({
    spender: { agentId, keyId },
    holdId: nonce,
    amountRaw: 1n,
    destination: { host: HOST, payee: PAYEE },
    reservation: {
      nonce,
      wallet,
      payee: PAYEE,
      validBefore,
      signature,
      x402Version: 2,
      network: 'eip155:8453',
      targetUrl: `https://${HOST}/`,
      targetHost: HOST,
      method: 'GET',
    },
  });
  if (verdict.kind !== 'held') throw new Error(`refused: ${verdict.refusal.reason}`);
}

async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let i = 0; i < items.length; i += AT_ONCE) {
    done.push(...(await Promise.all(items.slice(i, i + AT_ONCE).map(work))));
  }
  return done;
}
