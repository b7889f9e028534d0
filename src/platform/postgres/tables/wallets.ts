import { pgTable, text } from 'drizzle-orm/pg-core';
import { bytea, now } from '../columns.ts';

/** Wallets that this server holds itself. One row an agent at most; never deleted, funds may still arrive. */
export const managedWallets = pgTable('managed_wallets', {
  /** `<accountId>:<agentId>`, so that a repeated request for an agent's wallet finds the same wallet. */
  reference: text('reference').primaryKey(),
  /** Wallet's address in lower case. */
  address: text('address').notNull().unique(),
  /** Private key under AES-256-GCM: 12 bytes nonce, 32 bytes sealed key, 16 bytes tag. */
  sealedKey: bytea('sealed_key').notNull(),
  createdAt: now('created_at'),
});

/** Wallets that a provider holds, by the provider's names. One row an agent at most; never deleted. */
export const remoteWallets = pgTable('remote_wallets', {
  /** `<accountId>:<agentId>`. */
  reference: text('reference').primaryKey(),
  walletId: text('wallet_id').notNull().unique(),
  /** Wallet's address in lower case. */
  address: text('address').notNull().unique(),
  createdAt: now('created_at'),
});
