import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';

/** State of a process id on this machine. `command` and `cwd` are empty when they may not be read. */
export type ProcessInfo = {
  readonly state: 'absent' | 'zombie' | 'alive';
  /** Start time, which distinguishes two processes with the same id. */
  readonly startedAt: string;
  readonly command: string;
  readonly cwd: string;
};

const ABSENT: ProcessInfo = { state: 'absent', startedAt: '', command: '', cwd: '' };

/** Returns the state of a process, from `/proc` if there is one and from `ps` otherwise. */
export function readProcess(pid: number): ProcessInfo {
  if (!Number.isSafeInteger(pid) || pid <= 0) return ABSENT;
  if (!existsSync('/proc/self/stat')) return askPs(pid);
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === '') return answersSignals(pid) ? { ...ABSENT, state: 'alive' } : ABSENT;
  // The name in parentheses may hold any text. Fixed fields follow it: the state, then numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    state: fields[0] === 'Z' || fields[0] === 'X' ? 'zombie' : 'alive',
    startedAt: fields[19] ?? '',
    command: attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' '),
    cwd: attempt(() => readlinkSync(`/proc/${pid}/cwd`)),
  };
}

function askPs(pid: number): ProcessInfo {
  const asked = spawnSync('ps', ['-o', 'stat=,lstart=,command=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  });
  const match = /^(\S+)\s+((?:\S+\s+){4}\S+)\s*(.*)$/.exec(asked.stdout?.trim() ?? '');
  if (match === null) return ABSENT;
  const [, state = '', started = '', command = ''] = match;
  return {
    state: state.startsWith('Z') ? 'zombie' : 'alive',
    startedAt: started.replace(/\W+/g, ''),
    command,
    cwd: '',
  };
}

/** Returns true when a process exists, also when it may not be signalled. */
function answersSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
