import { readdirSync, readFileSync } from 'node:fs';
import type { Sql } from '../src/platform/postgres/sql.ts';

const TICK_MICROS = 10_000;

/** What a PostgreSQL on this machine has used of its CPUs so far, in microseconds, over all of its processes. */
export async function databaseCpuOf(sql: Sql): Promise<() => Promise<number>> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const postmaster = statOf(row?.pid ?? 0)?.parent ?? 0;
  return async () => {
    const pids = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
    let ticks = 0;
    for (const pid of pids) {
      const stat = statOf(pid);
      if (stat === undefined) continue;
      if (pid === postmaster) ticks += stat.own + stat.reaped;
      else if (stat.parent === postmaster) ticks += stat.own;
    }
    return ticks * TICK_MICROS;
  };
}

/** What a process of this machine has used so far, in microseconds of CPU: to the nanosecond where the system counts so. */
export const processCpu = (pid: number): number =>
  scheduledMicros(pid) ?? (statOf(pid)?.own ?? 0) * TICK_MICROS;

/** Of all its threads that live. Undefined where the scheduler does not tell. */
function scheduledMicros(pid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanosOf = (thread: string) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    return threads.reduce((sum, thread) => sum + nanosOf(thread), 0) / 1_000;
  } catch {
    return undefined;
  }
}

/**
 * How long a core of this machine was wanted and not had so far, in milliseconds, because what it is a guest of gave the
 * time to others: what is late then is not late for what was measured. 0 where the system does not tell.
 */
export function stolenMs(core: string): number {
  try {
    const line = new RegExp(`^cpu${core} (.+)$`, 'm').exec(readFileSync('/proc/stat', 'utf8'));
    // user, nice, system, idle, iowait, irq, softirq, steal.
    return (Number(line?.[1]?.split(' ')[7] ?? 0) * TICK_MICROS) / 1_000;
  } catch {
    return 0;
  }
}

/** Undefined where the process is gone. The name before the last parenthesis may hold anything. */
function statOf(pid: number): { parent: number; own: number; reaped: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const at = (field: number) => fields[field - 3] ?? 0;
    return { parent, own: at(14) + at(15), reaped: at(16) + at(17) };
  } catch {
    return undefined;
  }
}
