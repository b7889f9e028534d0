import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';

/** The same server, another database on it. */
export function targetOn(server: DatabaseTarget, database: string): DatabaseTarget {
  if (server.kind === 'socket') return { ...server, database };
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  return { kind: 'url', url: url.href };
}
