import type { Hex } from 'viem';
import { expect } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createLedger, type LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { takeLease } from '../../../src/ledger/store/lease-store.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import type { Chain } from './chain.ts';

/** For what other processes and the chain bring about, on a machine that may be busy. */
export const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 30_000 });

/** The same of a route: a key may ask 100 times a minute, and every 50 ms would be more. */
export const eventuallyTold = <T>(ask: () => T) =>
  expect.poll(ask, { timeout: 30_000, interval: 400 });

/** What the ledger says of an agent and of its wallet. */
export type Books = {
  readonly status: string;
  readonly wallet: Hex;
  readonly spendableRaw: bigint;
  readonly heldRaw: bigint;
  readonly walletRaw: bigint;
  readonly promisedRaw: bigint;
};

export async function booksOf(sql: Sql, agentId: number): Promise<Books> {
  const [row] = await sql<Books[]>`
    select a.status, a.wallet_address as wallet, f.spendable_raw as "spendableRaw",
      f.held_raw as "heldRaw", f.wallet_raw as "walletRaw", f.promised_raw as "promisedRaw"
    from agents a join agent_funds f on f.agent_id = a.id where a.id = ${agentId}`;
  if (row === undefined) throw new Error(`there is no agent ${agentId}`);
  return row;
}

export type PayoutRow = {
  readonly nonce: Hex;
  readonly kind: string;
  readonly payee: Hex;
  readonly amountRaw: bigint;
  readonly state: string;
  readonly attempts: number;
  readonly txHash: Hex | null;
};

/** Payouts of an agent, oldest first. */
export async function payoutsOf(sql: Sql, agentId: number): Promise<readonly PayoutRow[]> {
  return sql<PayoutRow[]>`
    select nonce, kind, payee, amount_raw as "amountRaw", state, attempts, tx_hash as "txHash"
    from payouts where agent_id = ${agentId} order by created_at, nonce`;
}

const AN_HOUR_MS = 3_600_000;

/** A ledger of a process of its own, beside those of the servers; no server takes its holds for orphans. */
export async function ledgerBeside(sql: Sql): Promise<LiveLedger> {
  const node = await takeLease(sql, 'beside the servers', AN_HOUR_MS);
  const store = createBalanceStore({ sql, node });
  return createLedger({ store, clock: systemClock, log: silentLog });
}

/** Makes what waits for its next attempt due now. */
export const makeDue = (sql: Sql) => sql`update payouts set next_at = now() where state <> 'done'`;

/** The books against the chain, to the raw unit, for every agent that has a wallet; and the ledger against itself. */
export async function expectAgreement(sql: Sql, chain: Chain): Promise<void> {
  const rows = await sql<{ id: number; wallet: Hex; book: bigint }[]>`
    select a.id, a.wallet_address as wallet, f.wallet_raw as book
    from agents a join agent_funds f on f.agent_id = a.id where a.wallet_address is not null`;
  for (const { id, wallet, book } of rows) {
    expect(await chain.usdcOf(wallet), `the wallet of agent ${id}`).toBe(book);
  }
  expect(await checkInvariants(sql)).toEqual([]);
}
