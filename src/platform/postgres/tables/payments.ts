import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgSequence,
  pgTable,
  smallint,
  text,
} from 'drizzle-orm/pg-core';
import { id, instant, now, raw } from '../columns.ts';

/** Sequence of the ids of paid and free calls through the proxy: an agent's history is one list, newest first. */
export const proxyCallIds = pgSequence('proxy_call_ids');

const callId = () =>
  bigint('id', { mode: 'number' }).notNull().default(sql`nextval('proxy_call_ids')`);

/**
 * One signed payment to a vendor, written with its hold before a byte of the payment leaves, and kept for ever. A holder of the
 * signature can have the payment mined until chain time reaches `valid_before`, so only the chain decides its outcome.
 */
export const reservations = pgTable(
  'reservations',
  {
    /** Nonce of the authorization: 0x and 64 hex digits in lower case, unique on the chain with the wallet. */
    nonce: id('nonce').primaryKey(),
    id: callId(),
    holdId: id('hold_id').notNull().unique(),
    agentId: integer('agent_id').notNull(),
    keyId: integer('key_id'),
    wallet: id('wallet').notNull(),
    payee: text('payee').notNull(),
    valueRaw: raw('value_raw').notNull(),
    /** Unix seconds, by the chain's clock, until which the signature is valid. */
    validBefore: bigint('valid_before', { mode: 'number' }).notNull(),
    signature: text('signature').notNull(),
    x402Version: smallint('x402_version').notNull(),
    network: text('network').notNull(),
    targetUrl: text('target_url').notNull(),
    targetHost: text('target_host').notNull(),
    method: text('method').notNull(),
    taskId: text('task_id'),
    actionId: text('action_id'),
    customerId: text('customer_id'),
    state: text('state').notNull().default('reserved'),
    /** True when the vendor has refused the payment. The refusal proves nothing about the chain. */
    refused: boolean('refused').notNull().default(false),
    txHash: text('tx_hash'),
    responseStatusCode: integer('response_status_code'),
    latencyMs: integer('latency_ms'),
    reservedAt: now('reserved_at'),
    sentAt: instant('sent_at'),
    /** Time at which the outcome was decided. The payment is watched for a while after it. */
    decidedAt: instant('decided_at'),
    /** Time at which the payment was debited after all, because it moved on chain after its release. */
    correctedAt: instant('corrected_at'),
  },
  (table) => [
    // Undecided reservations for the reconciler, in the order of their ends.
    index('reservations_live')
      .on(table.validBefore)
      .where(sql`state in ('reserved', 'sent', 'pending_settlement')`),
    // All decided reservations, and decided reservations that a late transfer on the chain would correct.
    index('reservations_decided').on(table.decidedAt).where(sql`decided_at is not null`),
    index('reservations_watched')
      .on(table.decidedAt)
      .where(sql`decided_at is not null and state <> 'settled' and corrected_at is null`),
    index('reservations_agent').on(table.agentId, table.id),
    // Reservations that an agent's balance reports as pending.
    index('reservations_waiting').on(table.agentId).where(sql`state = 'pending_settlement'`),
    // Payments that a list of activity shows: they have no charge.
    index('reservations_unpaid')
      .on(table.agentId, table.reservedAt)
      .where(
        sql`state in ('pending_settlement', 'expired_unsettled', 'payment_rejected', 'released')`,
      ),
    // The payment of a transaction.
    index('reservations_tx').on(table.txHash).where(sql`tx_hash is not null`),
    check(
      'reservations_state',
      sql`${table.state} in ('reserved', 'sent', 'pending_settlement', 'settled', 'expired_unsettled', 'payment_rejected', 'released')`,
    ),
  ],
);

/**
 * Calls through the proxy without a payment on the chain. A free call has no other record; a purchase from the marketplace is a
 * charge, too. Old rows are pruned.
 */
export const proxyPassthroughs = pgTable(
  'proxy_passthroughs',
  {
    id: callId().primaryKey(),
    agentId: integer('agent_id').notNull(),
    keyId: integer('key_id'),
    targetUrl: text('target_url').notNull(),
    method: text('method').notNull(),
    responseStatusCode: integer('response_status_code').notNull(),
    latencyMs: integer('latency_ms').notNull(),
    taskId: text('task_id'),
    actionId: text('action_id'),
    createdAt: now('created_at'),
    /** Amount of the charge for this call; 0 when there is none. */
    costRaw: raw('cost_raw').notNull().default(sql`0`),
  },
  (table) => [index('proxy_passthroughs_agent').on(table.agentId, table.id)],
);

/**
 * Transfers of USDC out of an agent's wallet by this server: to its developer at a close or a transfer, to another agent of the
 * account, or to the operator's treasury. A payout keeps one nonce for its whole life, so that it is paid once however often it is signed.
 */
export const payouts = pgTable(
  'payouts',
  {
    nonce: id('nonce').primaryKey(),
    agentId: integer('agent_id').notNull(),
    /** close, sweep or transfer. */
    kind: text('kind').notNull(),
    wallet: id('wallet').notNull(),
    payee: text('payee').notNull(),
    amountRaw: raw('amount_raw').notNull(),
    /** planned, submitted, or done once the chain shows the transfer. */
    state: text('state').notNull().default('planned'),
    /** Unix seconds until which the last signature is valid. */
    validBefore: bigint('valid_before', { mode: 'number' }),
    txHash: text('tx_hash'),
    attempts: integer('attempts').notNull().default(0),
    /** Time of the next work on the payout. A process that takes the payout moves this time on first. */
    nextAt: now('next_at'),
    createdAt: now('created_at'),
    doneAt: instant('done_at'),
  },
  (table) => [
    index('payouts_open').on(table.nextAt).where(sql`state <> 'done'`),
    index('payouts_agent').on(table.agentId, table.createdAt, table.nonce),
    check('payouts_state', sql`${table.state} in ('planned', 'submitted', 'done')`),
    check('payouts_kind', sql`${table.kind} in ('close', 'sweep', 'transfer')`),
  ],
);

/** Progress of the reading of the chain, and its reader: one row a chain, its block identified by number and hash. */
export const chainCursors = pgTable('chain_cursors', {
  name: id('name').primaryKey(),
  blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
  blockHash: text('block_hash').notNull(),
  /** Process that reads now, and the end of its claim. */
  claimedBy: text('claimed_by'),
  claimedUntil: instant('claimed_until'),
});

/** Progress of the second check of wallets: the blocks that are read again, one row a chain. */
export const walletAudits = pgTable('wallet_audits', {
  name: id('name').primaryKey(),
  fromBlock: bigint('from_block', { mode: 'number' }).notNull(),
  toBlock: bigint('to_block', { mode: 'number' }).notNull(),
  /** Agents up to this id have their wallets done; null when all wallets are done. */
  afterAgentId: integer('after_agent_id'),
  /** Time at which the next round begins. */
  dueAt: now('due_at'),
  /** Highest block at which the next round may begin. */
  rereadFrom: bigint('reread_from', { mode: 'number' }),
});

/** Wallets that did not hold the USDC which these blocks show for the wallet; the credits of the wallet wait. */
export const awaitedDeposits = pgTable(
  'awaited_deposits',
  {
    agentId: integer('agent_id').primaryKey(),
    fromBlock: bigint('from_block', { mode: 'number' }).notNull(),
    toBlock: bigint('to_block', { mode: 'number' }).notNull(),
    /** Retries that credited nothing. */
    looks: integer('looks').notNull().default(0),
    foundAt: now('found_at'),
    nextAt: now('next_at'),
  },
  (table) => [index('awaited_deposits_due').on(table.nextAt)],
);

/** Wallets whose USDC on the chain differs from the book. A row is deleted once its difference is explained. */
export const walletDifferences = pgTable(
  'wallet_differences',
  {
    agentId: integer('agent_id').primaryKey(),
    /** USDC that the chain shows beyond the book; negative when it shows less. */
    differenceRaw: raw('difference_raw').notNull(),
    /** Lowest block that the search for the reason reads. The wallet is not older than this block. */
    floorBlock: bigint('floor_block', { mode: 'number' }).notNull(),
    /** Lowest block that the search for the reason has reached; null when the search begins at the newest block. */
    searchedFrom: bigint('searched_from', { mode: 'number' }),
    looks: integer('looks').notNull().default(0),
    passes: integer('passes').notNull().default(0),
    /** Difference that the last alarm reported. */
    toldRaw: raw('told_raw'),
    foundAt: now('found_at'),
    nextAt: now('next_at'),
  },
  (table) => [index('wallet_differences_due').on(table.nextAt)],
);
