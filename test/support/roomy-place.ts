import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A folder in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Far more than the databases of all workers and their logs ever come to. Containers often have 64 MB. */
const ROOM_BYTES = 4 * 2 ** 30;

/**
 * Where the database of a test stands: in memory where there is plenty of it, on the disk otherwise. To make and to drop
 * a database is hundreds of files, for which a busy disk takes seconds. Tests kill processes and never the machine.
 */
export function roomyPlace(): string {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize >= ROOM_BYTES) return MEMORY;
  } catch {
    // Another system has no such folder.
  }
  return tmpdir();
}
