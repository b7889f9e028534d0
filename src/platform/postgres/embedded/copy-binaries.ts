import { createHash } from 'node:crypto';
import { chmodSync, lstatSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Binaries, binariesIn } from './binaries.ts';
import { EmbeddedDatabaseError } from './embedded-error.ts';

/** Copies the binaries once to a place where every user may run them. Later starts find the copy there. */
export async function copyBinaries(binaries: Binaries): Promise<Binaries> {
  const built = lstatSync(binaries.postgres);
  const name = createHash('sha256')
    .update(`${binaries.root} ${built.size} ${built.mtimeMs}`)
    .digest('hex')
    .slice(0, 12);
  const place = join(tmpdir(), `svc-postgres-${name}`);
  if (!isOurs(place)) await makeCopy(binaries.root, place);
  return binariesIn(place);
}

/**
 * Returns true when a folder is ours and closed to writes of others, false when there is none. Throws for any other folder,
 * since others may write to the place.
 */
function isOurs(place: string): boolean {
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) {
    return true;
  }
  throw new EmbeddedDatabaseError(
    `${place} belongs to another user: remove it, or set DATABASE_URL.`,
  );
}

async function makeCopy(root: string, place: string): Promise<void> {
  const work = await mkdtemp(`${place}-`);
  try {
    await cp(root, work, { recursive: true, verbatimSymlinks: true });
    await openToAll(work);
    await rename(work, place);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    // Another start has put its copy into place first.
    if (!isOurs(place)) throw error;
  }
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const runs = entry.isDirectory() || entry.parentPath.endsWith('/bin');
    if (!entry.isSymbolicLink()) chmodSync(path, runs ? 0o755 : 0o644);
  }
}
