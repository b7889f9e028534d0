import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { ownerLives, readOwnerMark } from './owner.ts';
import { type ProcessInfo, readProcess } from './process-info.ts';

export type Holder =
  /** No process holds the directory. PostgreSQL itself handles a lock file whose process is gone. */
  | { readonly kind: 'free'; readonly socketDirectory?: string }
  /**
   * The lock file names a zombie or a process that is no postmaster of this data: PostgreSQL would refuse to start for ever.
   */
  | { readonly kind: 'stale'; readonly pid: number; readonly socketDirectory?: string }
  /** The lock file is empty: a process is writing it, or the machine lost power meanwhile. */
  | { readonly kind: 'unclear' }
  | {
      readonly kind: 'postmaster';
      readonly pid: number;
      readonly socketDirectory: string | undefined;
      /** Process that supervises the postmaster; undefined when the postmaster was started by hand. */
      readonly owner: { readonly mark: string; readonly lives: boolean } | undefined;
    };

/** Returns the process that holds a data directory, from its lock file. Changes nothing. */
export function findHolder(dataDirectory: string): Holder {
  const text = readLockFile(dataDirectory);
  if (text === undefined) return { kind: 'free' };
  const lines = text.split('\n');
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  if (!Number.isSafeInteger(pid) || pid === 0) return { kind: 'unclear' };
  const named = lines[4]?.startsWith('/') ? lines[4] : undefined;
  const where = named === undefined ? {} : { socketDirectory: named };
  const found = readProcess(pid);
  if (found.state === 'absent') return { kind: 'free', ...where };
  if (found.state === 'zombie' || !isPostmasterOf(found, dataDirectory)) {
    return { kind: 'stale', pid, ...where };
  }
  const mark = readOwnerMark(dataDirectory);
  return {
    kind: 'postmaster',
    pid,
    socketDirectory: named,
    owner: mark === undefined ? undefined : { mark, lives: ownerLives(mark) },
  };
}

/** Returns true for a process that cannot be inspected too: a wrong refusal is better than two postmasters. */
function isPostmasterOf(found: ProcessInfo, dataDirectory: string): boolean {
  if (found.cwd !== '') return found.cwd === realpathSync(dataDirectory);
  return found.command === '' || /postgres/.test(found.command);
}

function readLockFile(dataDirectory: string): string | undefined {
  try {
    return readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
