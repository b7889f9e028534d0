import { index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { bytea, id, instant, now } from '../columns.ts';
import { agents } from './agents.ts';

/**
 * Responses that agents may read again and continue. A worker deletes expired responses; a response beyond an agent's bound
 * deletes older ones when it is added, under an advisory lock of the agent.
 */
export const modelResponses = pgTable(
  'model_responses',
  {
    id: id('id').primaryKey(),
    agentId: integer('agent_id')
      .notNull()
      .references(() => agents.id),
    /** Response that this response continues. It may be deleted. */
    previousId: id('previous_id'),
    /** Ids of the output's items, for requests that refer to items instead of repeating them. */
    itemIds: text('item_ids').array().notNull(),
    /** Bytes of `sealed`. */
    bytes: integer('bytes').notNull(),
    /** The response and its own input as JSON under AES-256-GCM, bound to agent and id. */
    sealed: bytea('sealed').notNull(),
    createdAt: now('created_at'),
    /** Time at which the response is deleted. Moved on when another response continues it. */
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('model_responses_agent').on(table.agentId, table.expiresAt, table.id, table.bytes),
    index('model_responses_due').on(table.expiresAt),
  ],
);
