import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import { migrationsFolder } from '../../src/platform/postgres/migrations-folder.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';

/** The first message of a connection has no type; `X` is its last. */
const LAST = 'X'.charCodeAt(0);

/**
 * PostgreSQL with pgvector, in this process and behind a socket, migrated. It has one session, so that its pool has one
 * connection, and a statement outside of an open sql transaction waits for its end.
 */
export async function pgvectorServer() {
  const database = await PGlite.create({ extensions: { vector } });
  const server = createServer((socket) => {
    serve(database, socket).catch((error: unknown) => socket.destroy(error as Error));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const target = { kind: 'url', url: `postgres://postgres@127.0.0.1:${port}/postgres` } as const;
  const migrating = openSql(target, 1);
  await migrate(drizzle(migrating), { migrationsFolder: migrationsFolder() });
  await migrating.end();
  const sql = openSql(target, 1);
  return {
    sql,
    database,
    url: target.url,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      server.close();
      await database.close();
    },
  };
}

async function serve(database: PGlite, socket: Socket): Promise<void> {
  // An answer leaves in several pieces, none of which should wait for the acknowledgement of the one before.
  socket.setNoDelay(true);
  let kept: Buffer = Buffer.alloc(0);
  let hasBegun = false;
  for await (const piece of socket) {
    kept = Buffer.concat([kept, piece as Buffer]);
    for (;;) {
      const lengthAt = hasBegun ? 1 : 0;
      if (kept.length < lengthAt + 4) break;
      const end = lengthAt + kept.readUInt32BE(lengthAt);
      if (kept.length < end) break;
      if (hasBegun && kept[0] === LAST) return void socket.end();
      hasBegun = true;
      socket.write(await database.execProtocolRaw(kept.subarray(0, end)));
      kept = kept.subarray(end);
    }
  }
}
