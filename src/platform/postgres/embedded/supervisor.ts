import { sleep } from '../../../kernel/clock.ts';
import { claimDirectory } from './claim-directory.ts';
import { ownerMark } from './owner.ts';
import { launchPostmaster, type Postmaster, type PostmasterOptions } from './postmaster.ts';

const RETRY_MS = 100;
const RETRY_FOR_MS = 30_000;
const MAX_BACKOFF_MS = 5_000;
/** Time that a server must run for its start to count as good. The next restart then comes at once. */
const HEALTHY_AFTER_MS = 60_000;
/** Messages of PostgreSQL's own locks: another start was quicker, or backends of a killed server still end. */
const HELD = /lock file ".*" already exists|pre-existing shared memory block/;

export type SupervisorOptions = PostmasterOptions & { readonly directory: string };

/**
 * Keeps one PostgreSQL server running on a data directory until disposed. Restarts the server whenever it ends: at once the
 * first time, then after growing waits, without giving up.
 */
export async function supervise(options: SupervisorOptions): Promise<AsyncDisposable> {
  const stopping = new AbortController();
  let current: Postmaster | undefined = await launchClaimed(options);
  const watching = watch();

  async function watch(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const startedMs = options.clock.monotonicMs();
      const said = await current?.exited;
      if (stopping.signal.aborted) return;
      if (options.clock.monotonicMs() - startedMs > HEALTHY_AFTER_MS) failures = 0;
      options.log.error({ said: said?.slice(-500) }, 'database: PostgreSQL ended and is restarted');
      await sleep(options.clock, backoffMs(failures++), stopping.signal);
      if (!stopping.signal.aborted)
        current = await relaunch({ ...options, signal: stopping.signal });
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await current?.stop();
      await watching;
      // A restart that was under way when the stop came has ended by now, and may have succeeded.
      await current?.stop();
    },
  };
}

/**
 * Returns the wait before the next restart, after this many failed restarts.
 *
 * @internal A test goes through its table.
 */
export const backoffMs = (failures: number): number =>
  failures === 0 ? 0 : Math.min(MAX_BACKOFF_MS, RETRY_MS * 2 ** failures);

async function relaunch(options: SupervisorOptions): Promise<Postmaster | undefined> {
  try {
    const postmaster = await launchClaimed(options, ownerMark());
    options.log.info('database: PostgreSQL is back');
    return postmaster;
  } catch (error) {
    if (options.signal?.aborted) return undefined;
    options.log.error({ err: error }, 'database: PostgreSQL could not be restarted; trying again');
    return undefined;
  }
}

async function launchClaimed(options: SupervisorOptions, disown?: string): Promise<Postmaster> {
  const { clock, log, signal } = options;
  const startMs = clock.monotonicMs();
  for (;;) {
    await claimDirectory({
      directory: options.directory,
      dataDirectory: options.dataDirectory,
      clock,
      log,
      signal,
      adopt: false,
      ...(disown === undefined ? {} : { disown }),
    });
    try {
      return await launchPostmaster(options);
    } catch (error) {
      const held = error instanceof Error && HELD.test(error.message);
      if (!held || clock.monotonicMs() - startMs > RETRY_FOR_MS) throw error;
      await sleep(clock, RETRY_MS, signal);
    }
  }
}
