import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { SqlTransaction } from '../sql.ts';
import type { TableLine } from './format.ts';

/** Stream of rows into one table. */
export type CopyIn = {
  write(rows: Uint8Array): Promise<void>;
  /** Resolves when the server has stored every row. Rejects with the server's reason when it has not. */
  end(): Promise<void>;
  /** Cancels the copy, so that the connection can be used again. */
  abort(): void;
};

/**
 * Opens COPY FROM STDIN. When the server refuses rows after the last was sent, the driver neither ends nor fails the stream and
 * only rejects the resolved query, so that this function listens for the rejection.
 */
export async function copyIn(tx: SqlTransaction, { table, columns }: TableLine): Promise<CopyIn> {
  const query = tx`copy ${tx(table)} (${tx(columns)}) from stdin`;
  const stream: Writable = await query.writable();
  const refused = new Promise<never>((_, reject) => {
    Object.assign(query, { reject });
    stream.on('error', reject);
  });
  refused.catch(() => {});
  return {
    async write(rows) {
      if (!stream.write(rows)) await Promise.race([once(stream, 'drain'), refused]);
    },
    async end() {
      stream.end();
      await Promise.race([finished(stream), refused]);
    },
    abort: () => void stream.destroy(new Error('the restore was given up')),
  };
}
