import { type ChildProcess, spawn } from 'node:child_process';
import { type Clock, sleep, within } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Binaries } from './binaries.ts';
import { sendSignal } from './claim-directory.ts';
import { EmbeddedDatabaseError } from './embedded-error.ts';
import { findHolder } from './holder.ts';
import { type Identity, withFolder } from './identity.ts';
import { OWNER_SETTING, ownerMark } from './owner.ts';
import { PROGRAM_ENVIRONMENT } from './run-program.ts';
import { SERVER_SETTINGS } from './settings.ts';
import { watched } from './watchdog.ts';

export type PostmasterOptions = {
  readonly dataDirectory: string;
  readonly socketDirectory: string;
  readonly binaries: Binaries;
  readonly identity: Identity;
  readonly settings: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Signal that ends a start under way: the start rejects with the signal's reason, and no server is left running. */
  readonly signal?: AbortSignal | undefined;
};

/** Running PostgreSQL server that accepts connections. */
export type Postmaster = {
  /** Resolves with the last output of the server when the server has ended. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
};

/**
 * Time for a start, with the recovery after a crash, which replays at most `max_wal_size`. A longer start has another fault.
 */
const READY_WITHIN_MS = 600_000;
const POLITE_STOP_MS = 30_000;
const LAST_WORDS_MS = 500;
const KEPT_OUTPUT_CHARS = 4_000;

/**
 * Starts the server and waits until it accepts connections. Rejects with the server's last output when the server ends before.
 */
export async function launchPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const child = spawnWatched(options);
  const output = followOutput(child, options.log);
  const exited = exitOf(child, options.clock).then(() => output.tail());
  const { clock, signal } = options;
  const over = new AbortController();
  const patience = AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])]);
  const outcome = await Promise.race([
    output.ready.then(() => 'ready' as const),
    exited,
    sleep(clock, READY_WITHIN_MS, patience).then(() => 'it did not become ready'),
  ]);
  over.abort();
  if (outcome !== 'ready') {
    await stop(child, exited, options);
    signal?.throwIfAborted();
    throw new EmbeddedDatabaseError(`PostgreSQL did not start: ${outcome || 'it said nothing'}`);
  }
  return { exited, stop: () => stop(child, exited, options) };
}

function spawnWatched(options: PostmasterOptions): ChildProcess {
  const settings = {
    ...SERVER_SETTINGS,
    ...options.settings,
    unix_socket_directories: options.socketDirectory,
    [OWNER_SETTING]: ownerMark(),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return withFolder(options.identity, options.dataDirectory, ({ prefix, path, as, handles }) => {
    const command = [...prefix, options.binaries.postgres, '-D', path, ...flags];
    const [shell = '', ...args] = watched(command);
    return spawn(shell, args, {
      ...as,
      cwd: '/',
      env: PROGRAM_ENVIRONMENT,
      // Ctrl-C must not reach the database before this process has drained.
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe', ...handles],
    });
  });
}

function followOutput(child: ChildProcess, log: Log) {
  let text = '';
  const ready = new Promise<void>((resolve) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      const said = chunk.toString();
      text = (text + said).slice(-KEPT_OUTPUT_CHARS);
      log[said.includes('PANIC:') ? 'error' : 'debug'](`postgres: ${said.trimEnd()}`);
      if (text.includes('ready to accept connections')) resolve();
    });
  });
  child.stdin?.on('error', () => {});
  return { ready, tail: () => text.trim() };
}

/**
 * Resolves when the watchdog has ended. Waits only `LAST_WORDS_MS` for its pipe to close, because a backend that outlives the
 * watchdog may keep the pipe open.
 */
function exitOf(child: ChildProcess, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    child.on('error', () => resolve());
    child.on('close', () => resolve());
    child.on('exit', () => void sleep(clock, LAST_WORDS_MS).then(resolve));
  });
}

async function stop(
  child: ChildProcess,
  exited: Promise<string>,
  { clock, dataDirectory, log }: PostmasterOptions,
): Promise<void> {
  child.stdin?.end();
  const gone = exited.then(() => true);
  if (await within(clock, POLITE_STOP_MS, gone, () => false)) return;
  const holder = findHolder(dataDirectory);
  log.warn('database: stopping takes too long; it will recover at its next start');
  if (holder.kind === 'postmaster') sendSignal(holder.pid, 'SIGQUIT');
  await within(clock, POLITE_STOP_MS, gone, () => false);
}
