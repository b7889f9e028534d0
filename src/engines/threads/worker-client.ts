import { Worker } from 'node:worker_threads';
import type { Clock } from '../../kernel/clock.ts';
import { within } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { EngineBusy, EngineCrashed, EngineInputRefused } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { TurnPass, Turns } from '../vad/turns.ts';
import { createRestartBackoff } from './restart-backoff.ts';
import { createWatchdog } from './watchdog.ts';
import type { Contract, ReplyMessage, WorkerError, WorkerStart } from './worker-protocol.ts';

/** Client of a worker thread, with typed calls. */
export interface WorkerClient<C extends Contract> extends AsyncDisposable {
  /**
   * Calls a method of the worker. Rejects with EngineBusy at the bound of calls in flight and while a crashed worker waits for
   * its restart, with EngineCrashed when the worker dies or hangs before it answers, and with the worker's own refusals.
   */
  call<M extends keyof C & string>(
    method: M,
    argument: C[M]['in'],
    transfer?: readonly ArrayBuffer[],
  ): Promise<C[M]['out']>;
  readonly inFlight: number;
  /** The running thread, which tests kill; undefined when none runs. */
  readonly thread: Worker | undefined;
}

export type WorkerClientDeps<Options> = {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly entry: URL;
  /** Called at each start of the thread. */
  readonly options: () => Options;
  readonly maxInFlight: number;
  readonly niceness?: number;
  /** Size of V8's young generation in megabytes. A smaller one stays in the processor's cache to a larger part. */
  readonly youngHeapMb?: number;
  /** Turns at the processor: of all workers that share this object, only a few compute at a time. */
  readonly turns?: Turns;
  /** Milliseconds after which a worker that answers nothing counts as hung and is ended. */
  readonly hungAfterMs?: number;
};

type Pending = { resolve(value: unknown): void; reject(error: Error): void };

/** Returns the worker file beside `importerUrl`: a `.ts` source or the `.js` built from it. */
export function workerEntry(name: string, importerUrl: string): URL {
  return new URL(`./${name}${importerUrl.endsWith('.ts') ? '.ts' : '.js'}`, importerUrl);
}

/**
 * Creates the client of a worker. Starts its thread at the first call, and again after a growing backoff when the thread was
 * lost.
 */
export function createWorkerClient<C extends Contract, Options = unknown>(
  deps: WorkerClientDeps<Options>,
): WorkerClient<C> {
  const { name, clock } = deps;
  const silenceMs = deps.hungAfterMs ?? ENGINE_LIMITS.worker.hungAfterMs;
  const pending = new Map<number, Pending>();
  const rest = createRestartBackoff(clock);
  let worker: Worker | undefined;
  let nextId = 1;
  let disposed = false;

  const watchdog = createWatchdog({
    clock,
    silenceMs,
    isWaiting: () => pending.size > 0 && worker !== undefined,
    silent() {
      const hung = worker;
      lost(hung, new Error(`no answer for ${silenceMs} ms`));
      void hung?.terminate();
    },
  });

  function failAll(error: Error) {
    const failed = [...pending.values()];
    pending.clear();
    for (const { reject } of failed) reject(error);
  }

  function lost(thread: Worker | undefined, cause: unknown) {
    if (thread === undefined || thread !== worker) return;
    worker = undefined;
    watchdog.stop();
    const crashesInARow = rest.crashed();
    if (!disposed) deps.log.warn({ engine: name, err: cause, crashesInARow }, 'worker lost');
    failAll(new EngineCrashed(`the ${name} engine stopped`, { cause }));
  }

  function receive(reply: ReplyMessage) {
    watchdog.heard();
    rest.answered();
    const call = pending.get(reply.id);
    pending.delete(reply.id);
    if ('error' in reply) call?.reject(revive(reply.error));
    else call?.resolve(reply.value);
  }

  function start(): Worker {
    const turn = deps.turns?.pass();
    const giveBack = () => {
      if (turn !== undefined) deps.turns?.giveBack(turn);
    };
    const thread = startThread(deps, turn, giveBack);
    thread.on('message', (reply: ReplyMessage) => thread === worker && receive(reply));
    thread.on('error', (error) => lost(thread, error));
    thread.on('exit', (code) => {
      // The pass is given back only now: a thread that was ended as hung may take another turn until it has exited.
      giveBack();
      lost(thread, new Error(`worker exited with code ${code}`));
    });
    return thread;
  }

  function admit(): Worker {
    if (disposed) throw new EngineCrashed(`the ${name} engine is shut down`);
    const restMs = worker === undefined ? rest.remainingMs() : 0;
    if (restMs > 0) throw new EngineBusy(Math.ceil(restMs / 1_000));
    if (pending.size >= deps.maxInFlight) throw new EngineBusy(1);
    worker ??= start();
    return worker;
  }

  return {
    // Not async: waiting calls must fail before any other call can reach the next thread.
    call(method, argument, transfer = []) {
      return new Promise((resolve, reject) => {
        const thread = admit();
        const id = nextId++;
        if (pending.size === 0) watchdog.heard();
        pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
        thread.postMessage({ id, method, argument }, transfer);
        watchdog.watch();
      });
    },
    get inFlight() {
      return pending.size;
    },
    get thread() {
      return worker;
    },
    async [Symbol.asyncDispose]() {
      disposed = true;
      failAll(new EngineCrashed(`the ${name} engine is shutting down`));
      watchdog.stop();
      if (worker !== undefined) await endThread(worker, clock);
    },
  };
}

function startThread<Options>(
  deps: WorkerClientDeps<Options>,
  turn: TurnPass | undefined,
  failed: () => void,
): Worker {
  try {
    return newThread(deps, turn);
  } catch (error) {
    failed();
    throw error;
  }
}

function newThread<Options>(deps: WorkerClientDeps<Options>, turn: TurnPass | undefined): Worker {
  const workerData: WorkerStart<Options> = {
    entry: deps.entry.href,
    niceness: deps.niceness ?? 0,
    turn,
    options: deps.options(),
  };
  return new Worker(new URL('./worker-bootstrap.mjs', import.meta.url), {
    workerData,
    name: deps.name,
    // The loader flags of this process do not work in a thread; the bootstrap script registers its own loader.
    execArgv: [],
    resourceLimits: {
      maxOldGenerationSizeMb: ENGINE_LIMITS.worker.heapMb,
      ...(deps.youngHeapMb === undefined ? {} : { maxYoungGenerationSizeMb: deps.youngHeapMb }),
    },
  });
}

/** Lets the thread finish its present work, for a bounded time. */
async function endThread(thread: Worker, clock: Clock): Promise<void> {
  const gone = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  thread.postMessage({ end: true });
  await within(clock, ENGINE_LIMITS.worker.endGraceMs, gone, () => {});
  await thread.terminate();
}

function revive({ name, message, param }: WorkerError): Error {
  if (name === 'EngineInputRefused') return new EngineInputRefused(message, param);
  const error = new Error(message);
  error.name = name;
  return error;
}
