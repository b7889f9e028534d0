import type { DatabaseTarget } from './sql.ts';

/** Returns a database's place and user as text for people, never its password. */
export function describeTarget(target: DatabaseTarget): string {
  if (target.kind === 'socket') return `the embedded database at ${target.directory}`;
  if (!URL.canParse(target.url)) return 'the database of DATABASE_URL';
  const url = new URL(target.url);
  const user = url.username === '' ? '' : ` as ${decodeURIComponent(url.username)}`;
  return `PostgreSQL at ${url.host || 'localhost'}${url.pathname}${user}`;
}
