import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readProcess } from './process-info.ts';

/** Name of the setting that carries the owner's mark on the postmaster's command line. */
export const OWNER_SETTING = 'svc.owner';

/** Returns a mark of one process: its id and its start time, because ids are used again. */
export function ownerMark(pid = process.pid): string {
  return `${pid}.${readProcess(pid).startedAt}`;
}

/** Returns true when the process that left this mark is still running. */
export function ownerLives(mark: string): boolean {
  const [pid = '', startedAt = ''] = mark.split('.');
  const found = readProcess(Number(pid));
  return found.state === 'alive' && found.startedAt === startedAt;
}

/**
 * Returns the mark of the process that started the postmaster of this data directory. The postmaster writes its command line to
 * `postmaster.opts`, so the mark exists from the first moment and cannot be stale as a file of ours could.
 */
export function readOwnerMark(dataDirectory: string): string | undefined {
  try {
    const options = readFileSync(join(dataDirectory, 'postmaster.opts'), 'utf8');
    return /"svc\.owner=([\w.]+)"/.exec(options)?.[1];
  } catch {
    return undefined;
  }
}
