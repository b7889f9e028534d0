import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { DatabaseTarget, Sql } from '../../src/platform/postgres/sql.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { targetOn } from './target-on.ts';

export type TestDatabase = {
  readonly target: DatabaseTarget;
  readonly sql: Sql;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A fresh, fully migrated database for one test file alone; dropped when disposed of. */
export async function testDatabase(connections = 8): Promise<TestDatabase> {
  const server = inject('testServer');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const copy = `create database "${name}" template "${inject('testTemplate')}"`;
  if (inject('testServerSyncs')) {
    // Processes are killed in tests, never the server: no commit needs to wait for its disk.
    await administer(server, copy, `alter database "${name}" set synchronous_commit = off`);
  } else {
    // Copying files costs half of logging their pages, where no checkpoint waits for a disk.
    await administer(server, `${copy} strategy file_copy`);
  }
  const target = targetOn(server, name);
  const sql = openSql(target, connections);
  return {
    target,
    sql,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      await administer(server, `drop database if exists "${name}" with (force)`);
    },
  };
}

async function administer(server: DatabaseTarget, ...statements: string[]): Promise<void> {
  const admin = openSql(server, 1);
  try {
    for (const statement of statements) await admin.unsafe(statement);
  } finally {
    await admin.end({ timeout: 1 });
  }
}
