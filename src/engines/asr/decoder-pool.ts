import type { WorkerClient } from '../threads/worker-client.ts';
import type { SttContract } from './stt-contract.ts';

export type DecoderClient = WorkerClient<SttContract>;

/**
 * A bounded set of decoders. A stream has a decoder for the duration of an utterance; the decoder stays warm for the next
 * stream.
 */
export interface DecoderPool extends AsyncDisposable {
  /**
   * Calls `taken` once with a decoder: at once, or after the streams that waited before. Returns a function that gives up the
   * wait.
   */
  take(taken: (client: DecoderClient) => void): () => void;
  /** Returns a decoder to the pool. `retire` ends a decoder that is still busy with the last stream's audio. */
  giveBack(client: DecoderClient, retire: boolean): void;
  /** Makes decoders until there are `count`, or as many as the pool may have, and loads one after another. Never rejects. */
  grow(count: number, load: (client: DecoderClient) => Promise<unknown>): Promise<void>;
  readonly taken: number;
  /** Streams that wait for a decoder. */
  readonly waiting: number;
}

export type DecoderPoolDeps = {
  readonly size: number;
  readonly makeClient: () => DecoderClient;
};

export function createDecoderPool({ size, makeClient }: DecoderPoolDeps): DecoderPool {
  const idle: DecoderClient[] = [];
  const taken = new Set<DecoderClient>();
  const leaving = new Set<Promise<void>>();
  const waiting = new Set<(client: DecoderClient) => void>();
  let isDisposed = false;

  function end(client: DecoderClient) {
    const left = Promise.resolve(client[Symbol.asyncDispose]()).finally(() => {
      leaving.delete(left);
      serve();
    });
    leaving.add(left);
  }

  function serve() {
    for (const next of waiting) {
      // Decoders that are being ended still hold their memory, so they count.
      if (taken.size + leaving.size >= size) return;
      const client = idle.pop() ?? makeClient();
      taken.add(client);
      waiting.delete(next);
      next(client);
    }
  }

  function giveBack(client: DecoderClient, retire: boolean) {
    if (!taken.delete(client)) return;
    // A client whose thread died has nothing to end.
    if (retire && client.thread !== undefined) end(client);
    else idle.push(client);
    serve();
  }

  return {
    giveBack,
    async grow(count, load) {
      const most = Math.min(count, size);
      while (!isDisposed && idle.length + taken.size + leaving.size < most) {
        const client = makeClient();
        taken.add(client);
        // The first stream that gets a decoder whose load failed loads it again, or learns why not.
        await load(client).catch(() => {});
        giveBack(client, false);
      }
    },
    take(next) {
      waiting.add(next);
      serve();
      return () => waiting.delete(next);
    },
    get taken() {
      return taken.size;
    },
    get waiting() {
      return waiting.size;
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      waiting.clear();
      for (const client of [...idle.splice(0), ...taken]) end(client);
      await Promise.all(leaving);
    },
  };
}
