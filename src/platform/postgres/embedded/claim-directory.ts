import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Clock, sleep } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import { EmbeddedDatabaseError } from './embedded-error.ts';
import { findHolder, type Holder } from './holder.ts';

const POLL_MS = 25;
const EMPTY_LOCK_MS = 2_000;
/** The watchdog stops an orphan at once; an orphan that stays gets the signal again, then a harder signal. */
const ASK_AFTER_MS = 2_000;
const INSIST_AFTER_MS = 30_000;
const GIVE_UP_AFTER_MS = 60_000;

export type Claim =
  | { readonly kind: 'free' }
  | { readonly kind: 'running'; readonly pid: number; readonly socketDirectory: string };

export type ClaimRequest = {
  readonly directory: string;
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** True when a running postmaster is used instead of refused. */
  readonly adopt: boolean;
  /** Owner's mark whose postmaster counts as an orphan although the owner lives: this process's own mark, at a restart. */
  readonly disown?: string;
  /** Signal that ends the wait; the claim rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Waits until no process holds the directory: waits for an orphan that is still stopping, and clears away the remains of a
 * crash. Throws, naming the holder, when another server really holds the directory.
 */
export async function claimDirectory(request: ClaimRequest): Promise<Claim> {
  const { clock } = request;
  const start = clock.monotonicMs();
  let asked = 0;
  for (;;) {
    request.signal?.throwIfAborted();
    const elapsed = clock.monotonicMs() - start;
    const holder = findHolder(request.dataDirectory);
    const claim = await judge(request, holder, elapsed);
    if (claim !== undefined) return claim;
    if (elapsed > GIVE_UP_AFTER_MS) throw inUse(request.directory, holder);
    if (holder.kind === 'postmaster' && asked < stepAt(elapsed)) {
      asked = stepAt(elapsed);
      sendSignal(holder.pid, asked === 1 ? 'SIGINT' : 'SIGQUIT');
    }
    await sleep(clock, POLL_MS, request.signal);
  }
}

const stepAt = (elapsed: number): number =>
  elapsed > INSIST_AFTER_MS ? 2 : elapsed > ASK_AFTER_MS ? 1 : 0;

async function judge(
  request: ClaimRequest,
  holder: Holder,
  elapsed: number,
): Promise<Claim | undefined> {
  switch (holder.kind) {
    case 'unclear':
      if (elapsed > EMPTY_LOCK_MS) clearLock(request, 'empty lock file');
      return undefined;
    case 'free':
    case 'stale':
      // Process ids of another container mean nothing here, but its socket on a shared volume answers.
      if (holder.socketDirectory !== undefined && (await answers(holder.socketDirectory))) {
        throw inUse(request.directory, holder);
      }
      if (holder.kind === 'stale') clearLock(request, `lock file of process ${holder.pid}`);
      return { kind: 'free' };
    case 'postmaster':
      return judgePostmaster(request, holder);
  }
}

async function judgePostmaster(
  request: ClaimRequest,
  holder: Extract<Holder, { kind: 'postmaster' }>,
): Promise<Claim | undefined> {
  const { owner, pid, socketDirectory } = holder;
  const orphan = owner !== undefined && (!owner.lives || owner.mark === request.disown);
  if (orphan) return undefined;
  if (!request.adopt) throw inUse(request.directory, holder);
  if (socketDirectory === undefined || !(await answers(socketDirectory))) return undefined;
  return { kind: 'running', pid, socketDirectory };
}

function clearLock(request: ClaimRequest, what: string): void {
  request.log.warn({ directory: request.directory }, `database: a stale ${what} was removed`);
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock', '.s.PGSQL.5432']) {
    rmSync(join(request.dataDirectory, name), { force: true });
  }
}

function inUse(directory: string, holder: Holder): EmbeddedDatabaseError {
  const who =
    holder.kind !== 'postmaster'
      ? 'another PostgreSQL'
      : holder.owner?.lives
        ? `process ${holder.owner.mark.split('.')[0]}`
        : `PostgreSQL process ${holder.pid}`;
  return new EmbeddedDatabaseError(
    `The database directory ${directory} is in use by ${who}: stop it, name another directory, or share a server through DATABASE_URL=postgres://…`,
  );
}

/** Signals a process. Ignores failures, since the process may end between its discovery and the signal. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process is gone, which the caller's loop sees, or belongs to another user, so that the loop times out.
  }
}

/** Resolves with true when a server accepts connections on the socket, or when its backlog is full: nothing is waited for. */
function answers(socketDirectory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(join(socketDirectory, '.s.PGSQL.5432'));
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => done(true));
    socket.on('error', (error: NodeJS.ErrnoException) => done(error.code === 'EAGAIN'));
  });
}
