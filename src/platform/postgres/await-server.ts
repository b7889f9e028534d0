import { type Clock, sleep } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { describeTarget } from './describe-target.ts';
import { type DatabaseTarget, openSql } from './sql.ts';
import { errorCode, isConnectionError } from './transient.ts';

const WAIT_MS = 30_000;
const PAUSE_MS = { first: 250, most: 2_000 } as const;

/** Thrown when the database cannot be used. The message is a sentence for the operator and never holds the password. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

/**
 * Resolves when the server answers. Waits half a minute at most for a server that is still starting; reports a wrong password
 * or an unknown database at once. Rejects when `signal` fires meanwhile.
 */
export async function awaitServer(
  target: DatabaseTarget,
  { clock, log, signal }: { clock: Clock; log: Log; signal?: AbortSignal | undefined },
): Promise<void> {
  const startMs = clock.monotonicMs();
  for (let pauseMs: number = PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.most)) {
    try {
      return await knock(target);
    } catch (error) {
      const code = errorCode(error) ?? 'no code';
      const lateMs = clock.monotonicMs() - startMs + pauseMs;
      if (!isConnectionError(error) || lateMs > WAIT_MS) {
        throw new DatabaseUnreachable(
          `Cannot use ${describeTarget(target)}: ${reasonOf(code, error)}.`,
        );
      }
      log.warn({ code }, `waiting for ${describeTarget(target)}`);
      await sleep(clock, pauseMs, signal);
      signal?.throwIfAborted();
    }
  }
}

/** Connects once, on a connection of its own, so that no failure slows the pool's first connections. */
async function knock(target: DatabaseTarget): Promise<void> {
  const sql = openSql(target, 1);
  try {
    await sql`select 1`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function reasonOf(code: string, error: unknown): string {
  if (code === '28P01' || code === '28000') return `the user or its password was refused (${code})`;
  if (code === '3D000') return `there is no such database (${code})`;
  if (isConnectionError(error)) return `no answer within ${WAIT_MS / 1_000} s (${code})`;
  return `${error instanceof Error ? error.message : 'it failed'} (${code})`;
}
