import { readConfig, readSecret } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { checkTrustedProxies } from '../http/route/client-address.ts';
import { ListenError } from '../http/server/listen-on.ts';
import { UnsupportedPlatformError } from '../http/server/uws.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog, type Log } from '../kernel/log.ts';
import { systemRandom } from '../kernel/random.ts';
import { SchemaNotKnown } from '../platform/postgres/adopt-baseline.ts';
import { DatabaseUnreachable } from '../platform/postgres/await-server.ts';
import { EmbeddedDatabaseError } from '../platform/postgres/embedded/embedded-error.ts';
import { announce, describeStart } from './announce.ts';
import { favourMedia } from './favour-media.ts';
import { completeSettings } from './local-secrets.ts';
import { readableLine } from './readable-line.ts';
import { type Server, startServer } from './server.ts';

/** Errors of the environment and not of the program: their message is shown without a stack. */
const PLAIN_PROBLEMS = [
  ConfigError,
  UnsupportedPlatformError,
  ListenError,
  EmbeddedDatabaseError,
  DatabaseUnreachable,
  SchemaNotKnown,
];

/**
 * Milliseconds within which a second signal is taken for a copy of the first: npm forwards the signal that the terminal sent to
 * all.
 */
const SAME_SIGNAL_MS = 1_000;

/**
 * Runs the server from the environment's configuration until a signal stops it. `refuse` gets one sentence when the server
 * cannot start.
 */
export async function runServer(refuse: (sentence: string) => void): Promise<void> {
  const stopping = new AbortController();
  const terminal = process.stdout.isTTY ? process.stdout : undefined;
  favourMedia();
  try {
    const config = readConfig();
    checkTrustedProxies(config.trustedProxies);
    const parts = completeSettings(config, systemRandom);
    const log = createLog(
      config.logLevel,
      terminal && ((json) => readableLine(json, terminal.hasColors())),
    );
    writeLastWords(log);
    stopOnSignal(stopping, log);
    const server = await startServer({
      ...parts,
      log,
      clock: systemClock,
      random: systemRandom,
      secret: readSecret,
      signal: stopping.signal,
    });
    announce(log, describeStart(server, parts), terminal);
    await stopped(stopping.signal);
    await end(server, log);
  } catch (error) {
    // A start that a signal stopped is no failure.
    if (stopping.signal.aborted && error === stopping.signal.reason) return;
    if (PLAIN_PROBLEMS.some((kind) => error instanceof kind)) refuse((error as Error).message);
    else refuse(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/**
 * Stops the server at the first signal, also while it is still starting. A second signal, more than `SAME_SIGNAL_MS` later,
 * ends the process at once; another process settles its unfinished work.
 */
function stopOnSignal(stopping: AbortController, log: Log): void {
  let askedMs: number | undefined;
  const stop = (signal: NodeJS.Signals) => {
    const nowMs = systemClock.monotonicMs();
    if (askedMs === undefined) {
      askedMs = nowMs;
      log.info({ signal }, 'stopping: live work may finish');
      stopping.abort();
    } else if (nowMs - askedMs >= SAME_SIGNAL_MS) {
      log.fatal({ signal }, 'asked twice: ends without waiting');
      process.off('SIGTERM', stop).off('SIGINT', stop);
      process.kill(process.pid, signal);
    }
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function end(server: Server, log: Log): Promise<void> {
  try {
    await server[Symbol.asyncDispose]();
    log.info('stopped');
  } catch (error) {
    log.error({ err: error }, 'stopped, but not cleanly');
    process.exitCode = 1;
  }
}

/**
 * Logs an uncaught error before Node.js ends the process with an exit code other than 0. After a bug the state of the process
 * is unknown, and no data are lost: the server survives every kill.
 */
function writeLastWords(log: Log): void {
  process.on('uncaughtExceptionMonitor', (error, origin) => {
    log.fatal({ err: error, origin }, 'a bug ends this process');
  });
}
