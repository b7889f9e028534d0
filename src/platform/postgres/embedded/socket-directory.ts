import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedDatabaseError } from './embedded-error.ts';
import type { Identity } from './identity.ts';

/** Most bytes of the directory (a socket's path may have 107), and its characters: none that separate lists. */
const MAX_BYTES = 80;
const SIMPLE = /^[\w./@+-]+$/;

/** Returns the private folder for the server's Unix socket: the data folder itself when its path can serve. */
export function socketDirectory(dataDirectory: string, identity: Identity): string {
  const fits = Buffer.byteLength(dataDirectory) <= MAX_BYTES && SIMPLE.test(dataDirectory);
  if (fits && !identity.byHandle) return dataDirectory;
  const name = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12);
  const parent = Buffer.byteLength(tmpdir()) <= MAX_BYTES - 20 ? tmpdir() : '/tmp';
  return privateDirectory(join(parent, `svc-pg-${name}`), identity);
}

function privateDirectory(place: string, identity: Identity): string {
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const self = process.getuid?.() ?? 0;
  const wanted = identity.account?.uid ?? self;
  const found = lstatSync(place);
  const ours = found.uid === wanted || found.uid === self;
  if (!found.isDirectory() || !ours || (found.mode & 0o077) !== 0) {
    throw new EmbeddedDatabaseError(
      `${place}, where the database's socket belongs, belongs to another user: remove it, or use a shorter database path.`,
    );
  }
  if (found.uid !== wanted) chownSync(place, wanted, identity.account?.gid ?? wanted);
  return place;
}
