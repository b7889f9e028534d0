import { chown, lchown, lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Random, randomHex } from '../../../kernel/random.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedDatabaseError } from './embedded-error.ts';
import { type Identity, withFolder } from './identity.ts';
import { ownerLives, ownerMark } from './owner.ts';
import { runProgram } from './run-program.ts';
import { INITDB_OPTIONS, POSTGRES_MAJOR } from './settings.ts';

const DATA = `postgres-${POSTGRES_MAJOR}`;
const UNFINISHED = `${DATA}.init-`;

/** Returns the data directory inside the directory that the operator named: a mount point cannot be the target of a rename. */
export const dataDirectoryIn = (directory: string): string => join(directory, DATA);

/**
 * Returns the user id that owns the existing data, after checking that these binaries can read the data. Undefined when there
 * is no data.
 */
export async function inspectCluster(directory: string): Promise<number | undefined> {
  const data = dataDirectoryIn(directory);
  const found = await lstat(data).catch(() => undefined);
  if (found === undefined) {
    await refuseOtherVersions(directory);
    return undefined;
  }
  const version = await readFile(join(data, 'PG_VERSION'), 'utf8').catch((error) => {
    // The data belongs to another user. The choice of the identity reports which one.
    if (error.code === 'EACCES') return POSTGRES_MAJOR;
    throw new EmbeddedDatabaseError(
      `${data} is no PostgreSQL database: move it away, or name another directory.`,
      { cause: error },
    );
  });
  if (version.trim() !== POSTGRES_MAJOR) throw otherVersion(directory, version.trim());
  return found.uid;
}

async function refuseOtherVersions(directory: string): Promise<void> {
  const names = await readdir(directory).catch((): string[] => []);
  const other = names.map((name) => /^postgres-(\d+)$/.exec(name)?.[1]).find(Boolean);
  if (other !== undefined) throw otherVersion(directory, other);
  if (names.includes('PG_VERSION')) {
    throw new EmbeddedDatabaseError(
      `${directory} is the data directory of another PostgreSQL: name another directory.`,
    );
  }
}

function otherVersion(directory: string, version: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The database in ${directory} was made by PostgreSQL ${version} and this program brings ${POSTGRES_MAJOR}: back it up with the former release and restore it here.`,
  );
}

/** Makes an empty database elsewhere and moves it into place whole, so that a crash leaves a whole database or none. */
export async function makeCluster(
  directory: string,
  deps: { binaries: Binaries; identity: Identity; random: Random },
): Promise<void> {
  await removeUnfinished(directory);
  const work = join(directory, `${UNFINISHED}${ownerMark()}.${randomHex(deps.random, 4)}`);
  await mkdir(work, { mode: 0o700 });
  const { account } = deps.identity;
  if (account !== undefined) await chown(work, account.uid, account.gid);
  await runInitdb(work, deps);
  try {
    await rename(work, dataDirectoryIn(directory));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    await rm(work, { recursive: true, force: true });
    // Another start has moved its database into place first. The claim then finds the holder of the directory.
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
  await syncDirectory(directory);
}

async function runInitdb(
  work: string,
  { binaries, identity }: { binaries: Binaries; identity: Identity },
): Promise<void> {
  const result = await withFolder(identity, work, (place) =>
    runProgram([...place.prefix, binaries.initdb, '-D', place.path, ...INITDB_OPTIONS], place),
  );
  if (result.code === 0) return;
  await rm(work, { recursive: true, force: true });
  throw new EmbeddedDatabaseError(`The database could not be made: ${result.output}`);
}

/** Removes the folders of killed starts. Their initdb may still be writing, so a failed removal is left to the next start. */
async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(UNFINISHED)) continue;
    if (ownerLives(name.slice(UNFINISHED.length))) continue;
    await rm(join(directory, name), { recursive: true, force: true, maxRetries: 3 }).catch(
      () => undefined,
    );
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync();
  await handle.close();
}

/**
 * Makes the account that will run PostgreSQL the owner of the data, after root has changed the account. No process holds the
 * data then.
 */
export async function handOver(dataDirectory: string, identity: Identity): Promise<void> {
  const uid = identity.account?.uid ?? process.getuid?.() ?? 0;
  const gid = identity.account?.gid ?? process.getgid?.() ?? 0;
  if ((await lstat(dataDirectory)).uid === uid) return;
  for (const name of await readdir(dataDirectory, { recursive: true })) {
    await lchown(join(dataDirectory, name), uid, gid);
  }
  // Last, since the owner of this folder shows that everything in it has been handed over.
  await lchown(dataDirectory, uid, gid);
}
