import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { id, instant, now, raw } from '../columns.ts';

/**
 * Transfers between a developer's wallet and the wallets of its agents. The state of a transfer that this server signs is that of
 * the payout with its nonce; `state` holds it only before the payout is planned, and for transfers that the developer signs.
 */
export const transfers = pgTable(
  'transfers',
  {
    /** UUID. */
    id: id('id').primaryKey(),
    accountId: id('account_id').notNull(),
    /** from_agent, agent_to_agent, to_agent or embedded_to_external. */
    direction: text('direction').notNull(),
    agentId: integer('agent_id').notNull(),
    counterpartyAgentId: integer('counterparty_agent_id'),
    fromAddress: id('from_address').notNull(),
    toAddress: id('to_address').notNull(),
    amountRaw: raw('amount_raw').notNull(),
    /** Nonce of the payout; null where the developer signs. */
    nonce: id('nonce'),
    state: text('state').notNull().default('prepared'),
    /** Transaction that the developer reported. */
    txHash: id('tx_hash'),
    failureReason: text('failure_reason'),
    /** On-ramp session whose purchase the transfer carries on. */
    onrampId: id('onramp_id'),
    expiresAt: instant('expires_at').notNull(),
    attempts: integer('attempts').notNull().default(0),
    /** Time of the next look at the chain for a reported transaction. */
    nextAt: now('next_at'),
    createdAt: now('created_at'),
  },
  (table) => [
    index('transfers_account').on(table.accountId, table.createdAt),
    uniqueIndex('transfers_nonce').on(table.nonce),
    // One transaction confirms one transfer.
    uniqueIndex('transfers_tx').on(table.txHash),
    index('transfers_open').on(table.accountId).where(sql`state in ('prepared', 'submitted')`),
    index('transfers_watched').on(table.nextAt).where(sql`state = 'submitted'`),
    index('transfers_onramp').on(table.onrampId).where(sql`onramp_id is not null`),
    check(
      'transfers_direction',
      sql`${table.direction} in ('from_agent', 'agent_to_agent', 'to_agent', 'embedded_to_external')`,
    ),
    check(
      'transfers_state',
      sql`${table.state} in ('prepared', 'submitted', 'completed', 'failed', 'expired')`,
    ),
  ],
);

/** Orders that turn USDC into money at a bank, by a provider. Each follows its first leg, then the sale at the provider. */
export const cashOuts = pgTable(
  'cash_outs',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    /** Reference of the order at the provider. */
    ref: id('ref').notNull().unique(),
    accountId: id('account_id').notNull(),
    /** agent_wallet or embedded_wallet. */
    sourceKind: text('source_kind').notNull(),
    agentId: integer('agent_id'),
    state: text('state').notNull(),
    ownerAddress: id('owner_address').notNull(),
    agentWallet: id('agent_wallet'),
    requestedRaw: raw('requested_raw').notNull(),
    finalRaw: raw('final_raw'),
    /** Estimate of the provider in its own words: amount and currency. */
    fiatEstimate: text('fiat_estimate'),
    depositAddress: id('deposit_address'),
    saleId: text('sale_id'),
    /** Transfer of the first leg; null where the USDC is in the developer's wallet already. */
    transferId: id('transfer_id'),
    sendTxHash: id('send_tx_hash'),
    failureReason: text('failure_reason'),
    attempts: integer('attempts').notNull().default(0),
    /** Time of the next look at the order. A process that takes the order moves this time on first. */
    nextAt: now('next_at'),
    /** Time at which the present state ends by itself. */
    deadlineAt: instant('deadline_at'),
    createdAt: now('created_at'),
    updatedAt: now('updated_at'),
  },
  (table) => [
    index('cash_outs_account').on(table.accountId, table.id),
    index('cash_outs_open')
      .on(table.nextAt)
      .where(sql`state not in ('completed', 'failed', 'expired', 'cancelled')`),
    check(
      'cash_outs_state',
      sql`${table.state} in ('created', 'leg1_pending', 'awaiting_form', 'awaiting_send', 'sent', 'processing', 'completed', 'failed', 'expired', 'cancelled')`,
    ),
    check('cash_outs_source', sql`${table.sourceKind} in ('agent_wallet', 'embedded_wallet')`),
  ],
);

/** Sessions of the on-ramp for which a token was made. The token itself is not kept. */
export const onrampSessions = pgTable(
  'onramp_sessions',
  {
    /** UUID. */
    id: id('id').primaryKey(),
    accountId: id('account_id').notNull(),
    agentId: integer('agent_id'),
    destination: id('destination').notNull(),
    /** Fiat amount that the client proposed, in its spelling. */
    fiatAmount: text('fiat_amount'),
    createdAt: now('created_at'),
  },
  (table) => [index('onramp_sessions_account').on(table.accountId, table.createdAt)],
);
