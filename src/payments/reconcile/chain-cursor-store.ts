import type { Block } from '../../platform/chain/rpc-answers.ts';
import type { Sql } from '../../platform/postgres/sql.ts';

/** The last block that was read. */
export type ChainCursor = { readonly number: number; readonly hash: string };

/** Name of the only chain whose cursor is stored. */
const CHAIN = 'base';

/**
 * Result of a claim on the cursor. The process with the claim reads the chain; no other process does until the claim is
 * released or expires.
 */
export type CursorClaim =
  | { readonly kind: 'claimed'; readonly cursor: ChainCursor | undefined }
  | { readonly kind: 'busy' };

/** Claims the cursor for `forMs` milliseconds. `cursor` is undefined when the chain was never read. */
export async function claimCursor(sql: Sql, nodeId: string, forMs: number): Promise<CursorClaim> {
  const until = sql`clock_timestamp() + ${forMs} * interval '1 millisecond'`;
  const [row] = await sql<{ block_number: bigint; block_hash: string }[]>`
    insert into chain_cursors as c (name, block_number, block_hash, claimed_by, claimed_until)
    values (${CHAIN}, ${UNREAD.number}, ${UNREAD.hash}, ${nodeId}, ${until})
    on conflict (name) do update set claimed_by = ${nodeId}, claimed_until = ${until}
    where c.claimed_until is null or c.claimed_until < clock_timestamp() or c.claimed_by = ${nodeId}
    returning c.block_number, c.block_hash`;
  if (row === undefined) return { kind: 'busy' };
  const number = Number(row.block_number);
  return { kind: 'claimed', cursor: number < 0 ? undefined : { number, hash: row.block_hash } };
}

/**
 * Extends the claim on the cursor by `forMs` milliseconds. Rejects when the claim had expired and another process has claimed
 * the cursor.
 */
export async function requireCursor(sql: Sql, nodeId: string, forMs: number): Promise<void> {
  const rows = await sql`
    update chain_cursors set claimed_until = clock_timestamp() + ${forMs} * interval '1 millisecond'
    where name = ${CHAIN} and claimed_by = ${nodeId}
    returning name`;
  if (rows.length === 0) throw new Error('another process reads the chain by now');
}

/**
 * Releases the claim on the cursor, and moves the cursor on when blocks were read. The cursor moves only from the block where
 * it was claimed, whichever process has it now: a reading that took longer than its claim is not lost, and an overtaken reading
 * moves nothing.
 */
export async function giveCursorBack(
  sql: Sql,
  nodeId: string,
  from: ChainCursor | undefined,
  readTo: Pick<Block, 'number' | 'hash'> | undefined,
): Promise<void> {
  const { number, hash } = from ?? UNREAD;
  if (readTo !== undefined) {
    await sql`
      update chain_cursors set block_number = ${readTo.number}, block_hash = ${readTo.hash}
      where name = ${CHAIN} and block_number = ${number} and block_hash = ${hash}`;
  }
  await sql`
    update chain_cursors set claimed_by = null, claimed_until = null
    where name = ${CHAIN} and claimed_by = ${nodeId}`;
}

/** Cursor row of a chain that was never read. */
const UNREAD: ChainCursor = { number: -1, hash: '' };
