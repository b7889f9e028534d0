import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  boolean,
  check,
  customType,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { bytea, id, instant, now, raw } from '../columns.ts';
import { agents } from './agents.ts';

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' });
const counter = (name: string) => bigint(name, { mode: 'number' });

/** Memory store of an agent. Every change that adds or removes items locks its row. `items` counts both types. */
export const memoryTenants = pgTable('memory_tenants', {
  agentId: integer('agent_id')
    .primaryKey()
    .references(() => agents.id),
  spaces: integer('spaces').notNull().default(0),
  items: integer('items').notNull().default(0),
  /** Bytes of all items of the store. */
  bytes: counter('bytes').notNull().default(0),
  knowledge: integer('knowledge').notNull().default(0),
  createdAt: now('created_at'),
});

/** One namespace of a store: the default namespace, whose name is empty, or a sub-tenant. */
export const memorySpaces = pgTable(
  'memory_spaces',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    agentId: integer('agent_id')
      .notNull()
      .references(() => agents.id),
    subTenant: id('sub_tenant').notNull(),
    /** Declared type of each metadata field; null when the types of the default namespace apply. */
    schema: jsonb('schema').$type<Readonly<Record<string, string>>>(),
    model: text('model').notNull(),
    /** Number of dimensions of the namespace's vectors; 0 until the first vectors are written. */
    dims: integer('dims').notNull(),
    /** Items of the namespace by type, changed with the row of its store locked. */
    memories: integer('memories').notNull().default(0),
    knowledge: integer('knowledge').notNull().default(0),
    /** Raised by each commit that adds or removes chunks. Loaded copies of the namespace are updated by this number. */
    version: counter('version').notNull().default(0),
    /** Last version whose removals are no longer recorded. */
    forgottenVersion: counter('forgotten_version').notNull().default(0),
    createdAt: now('created_at'),
    /** Time of the deletion. No request sees the namespace from then on; a worker deletes its contents. */
    deletedAt: instant('deleted_at'),
  },
  (table) => [
    uniqueIndex('memory_spaces_living')
      .on(table.agentId, table.subTenant)
      .where(sql`deleted_at is null`),
    index('memory_spaces_deleted').on(table.id).where(sql`deleted_at is not null`),
  ],
);

/** A memory, or a document of knowledge, as it was ingested. */
export const memoryItems = pgTable(
  'memory_items',
  {
    id: id('id').primaryKey(),
    /** Position in the order of ingestion. */
    seq: bigserial('seq', { mode: 'number' }).notNull(),
    spaceId: integer('space_id')
      .notNull()
      .references(() => memorySpaces.id),
    /** Agent of the item's namespace. */
    agentId: integer('agent_id').notNull(),
    type: text('type').notNull(),
    text: text('text').notNull(),
    infer: boolean('infer').notNull(),
    metadata: jsonb('metadata').notNull(),
    /** Title of a document, and the id that its owner gave it. */
    title: text('title'),
    sourceId: text('source_id'),
    status: text('status').notNull(),
    /** Claim of the process that indexes the item. */
    claim: id('claim'),
    /** Time from which a process may claim the item; null when no indexing is left. */
    dueAt: instant('due_at'),
    /** Failed attempts to index the item. */
    attempts: smallint('attempts').notNull().default(0),
    /** Bytes of the item's text, title, id and metadata in UTF-8. */
    bytes: integer('bytes').notNull().default(0),
    /** Payer of the purchases that index the item, with key and tags; null: the agent, without a key. */
    spender: jsonb('spender'),
    /** Cost of the item's indexing. */
    costRaw: raw('cost_raw').notNull().default(sql`0`),
    /** Code of the refusal for which the item waits for another purchase or has failed. */
    reason: text('reason'),
    /** Balance that the refused purchase needs; null when the item does not wait for money. */
    needsRaw: raw('needs_raw'),
    /** Refusals of the purchases that the item needs. */
    waits: smallint('waits').notNull().default(0),
    /** Source of the facts of a text with `infer`: the model, or `local`. */
    inferredBy: text('inferred_by'),
    /** Reason why the facts are not the model's. */
    inferError: text('infer_error'),
    createdAt: now('created_at'),
  },
  (table) => [
    index('memory_items_unpaid').on(table.agentId).where(sql`needs_raw is not null`),
    index('memory_items_space').on(table.spaceId, table.seq),
    index('memory_items_due')
      .on(table.agentId, table.spaceId, table.dueAt)
      .where(sql`due_at is not null`),
    check('memory_items_type', sql`${table.type} in ('memory', 'knowledge')`),
    check(
      'memory_items_status',
      sql`${table.status} in ('queued', 'processing', 'completed', 'failed')`,
    ),
  ],
);

/**
 * Purchases to index an item. A row is written before its request, its result before its charge, so that a process that
 * continues with the item finds the purchase and asks the ledger for the hold of that name.
 */
export const memoryPurchases = pgTable(
  'memory_purchases',
  {
    itemId: id('item_id')
      .notNull()
      .references(() => memoryItems.id, { onDelete: 'cascade' }),
    /** `facts` or `vectors`. */
    kind: text('kind').notNull(),
    /** Id of the purchase's hold. */
    workId: id('work_id').notNull(),
    model: text('model').notNull(),
    /** Delivered facts or vectors; null until they are delivered. */
    result: bytea('result'),
  },
  (table) => [
    primaryKey({ columns: [table.itemId, table.kind] }),
    check('memory_purchases_kind', sql`${table.kind} in ('facts', 'vectors')`),
  ],
);

/** Chunk of an item that searches find by its words and its vector. Written in the commit that completes the item. */
export const memoryChunks = pgTable(
  'memory_chunks',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    itemId: id('item_id')
      .notNull()
      .references(() => memoryItems.id, { onDelete: 'cascade' }),
    spaceId: integer('space_id').notNull(),
    type: text('type').notNull(),
    /** Text of the chunk. The first line is the text of the memory, or of this piece of the memory. */
    content: text('content').notNull(),
    /**
     * Words of the chunk, and its namespace as a word, so that the index finds a word within one namespace. Signs that join
     * words to a path or an address count as spaces, as in `word-query.ts`.
     */
    words: tsvector('words')
      .notNull()
      .generatedAlwaysAs(
        sql.raw(`to_tsvector('english', regexp_replace(normalize(content, NFC),
          '[/\\\\_@<>:=?#~]|(?<![0-9])[.]|[.](?![0-9])', ' ', 'g'))
          || array_to_tsvector(array['space ' || space_id::text])`),
      ),
    /** Words and values of the item's metadata, each with its namespace and field. */
    terms: text('terms').array().notNull(),
    /** Vector of length 1, as little-endian Float32 values. */
    vector: bytea('vector').notNull(),
    version: counter('version').notNull(),
  },
  (table) => [
    index('memory_chunks_space').on(table.spaceId, table.version, table.id),
    index('memory_chunks_item').on(table.itemId),
    index('memory_chunks_words').using('gin', table.words),
    index('memory_chunks_terms').using('gin', table.terms),
  ],
);

/** Chunks that were removed from a namespace, by which processes update their loaded copies. */
export const memoryRemovals = pgTable(
  'memory_removals',
  {
    spaceId: integer('space_id').notNull(),
    version: counter('version').notNull(),
    chunkIds: bigint('chunk_ids', { mode: 'bigint' }).array().notNull(),
    at: now('at'),
  },
  (table) => [
    primaryKey({ columns: [table.spaceId, table.version] }),
    index('memory_removals_at').on(table.at),
  ],
);
