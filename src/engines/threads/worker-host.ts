import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../kernel/assert.ts';
import { EngineInputRefused } from '../engine.ts';
import { endTurn, takeTurn } from '../vad/turns.ts';
import { isTrap } from './web-assembly.ts';
import type {
  CallMessage,
  Contract,
  EndMessage,
  ReplyMessage,
  WorkerStart,
} from './worker-protocol.ts';

/** Transfers a buffer to the caller instead of copying it. */
export type Transfer = (buffer: ArrayBufferLike) => void;

export type Handlers<C extends Contract> = {
  readonly [M in keyof C]: (
    argument: C[M]['in'],
    transfer: Transfer,
  ) => C[M]['out'] | Promise<C[M]['out']>;
};

/** Returns the options that this worker was started with. */
export function workerOptions<Options>(): Options {
  return (workerData as WorkerStart<Options>).options;
}

/**
 * Answers calls one after the other, in the order of posting, until the client ends the worker. With `overlap`, each call
 * begins when it arrives, and the handlers keep the order themselves. An error thrown by a handler is sent as the answer; a
 * trap of its engine ends the thread.
 */
export function serveWorker<C extends Contract>(
  handlers: Handlers<C>,
  { overlap = false }: { readonly overlap?: boolean } = {},
): void {
  const port = parentPort;
  assert(port !== null, 'an engine runs in a worker thread');
  const { niceness, turn } = workerData as WorkerStart<unknown>;
  yieldToMainThread(niceness);
  let line = Promise.resolve();
  port.on('message', (message: CallMessage | EndMessage) => {
    const before = overlap ? Promise.resolve() : line;
    line = before.then(async () => {
      if ('end' in message) return port.close();
      const buffers: ArrayBuffer[] = [];
      if (turn !== undefined) takeTurn(turn);
      const reply = await answer(handlers, message, (buffer) => {
        if (buffer instanceof ArrayBuffer) buffers.push(buffer);
      });
      if (turn !== undefined) endTurn(turn);
      port.postMessage(reply, buffers);
    });
  });
}

async function answer<C extends Contract>(
  handlers: Handlers<C>,
  { id, method, argument }: CallMessage,
  transfer: Transfer,
): Promise<ReplyMessage> {
  try {
    const handler = handlers[method];
    assert(handler !== undefined, `the worker knows the method ${method}`);
    return { id, value: await handler(argument, transfer) };
  } catch (error) {
    // The rejection ends this thread with its broken engine. The next call starts a new thread.
    if (isTrap(error)) throw error;
    const { name, message } = error as Error;
    const param = error instanceof EngineInputRefused ? error.param?.slice(0, 500) : undefined;
    return { id, error: { name, message: message.slice(0, 500), param } };
  }
}

/**
 * Lowers the priority of this thread. On Linux a priority belongs to the calling thread, so busy engines leave the cores to the
 * media loop. On other systems it would slow down the whole process and is left unchanged.
 */
function yieldToMainThread(niceness: number): void {
  if (process.platform === 'linux' && niceness > 0) setPriority(0, niceness);
}
