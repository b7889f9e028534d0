import { EngineBusy } from '../engine.ts';
import type { WorkerClient } from './worker-client.ts';

/** The part of a worker's contract that lets a stream go. It succeeds for an unknown stream too. */
export type ClosesStreams = {
  readonly close: { readonly in: { readonly stream: number }; readonly out: null };
};

export type WorkerStream = {
  /** Names the stream at the worker. */
  readonly stream: number;
  /** May be called more than once. */
  close(): void;
};

/**
 * Counts the open streams of a worker. Opening more than `most` throws EngineBusy; a closed stream counts until the worker has
 * released it.
 */
export function createWorkerStreams<C extends ClosesStreams>(
  client: WorkerClient<C>,
  most: number,
) {
  let last = 0;
  let open = 0;

  const closed = () => {
    open--;
  };

  return {
    open(): WorkerStream {
      if (open >= most) throw new EngineBusy(1);
      open++;
      const stream = ++last;
      let isClosed = false;
      return {
        stream,
        close() {
          if (isClosed) return;
          isClosed = true;
          // A thread that died took its streams with it. No new thread is started only to close them.
          if (client.thread === undefined) return closed();
          client.call('close', { stream }).then(closed, closed);
        },
      };
    },
  };
}
