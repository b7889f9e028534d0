import { LIMITS } from '../../kernel/limits.ts';
import { EngineBusy } from '../engine.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import type { SttContract } from './stt-contract.ts';

export type DecoderClient = WorkerClient<SttContract>;

/** A bounded set of decoders. One decoder belongs to one stream at a time and stays warm for the next. */
export interface DecoderPool extends AsyncDisposable {
  /** Throws EngineBusy when every decoder is taken: there is no queue. */
  take(): DecoderClient;
  /** `retire` ends a decoder that is still busy with what its last stream left behind. */
  giveBack(client: DecoderClient, retire: boolean): void;
  readonly taken: number;
}

export type DecoderPoolDeps = {
  readonly size: number;
  readonly makeClient: () => DecoderClient;
};

export function createDecoderPool({ size, makeClient }: DecoderPoolDeps): DecoderPool {
  const idle: DecoderClient[] = [];
  const taken = new Set<DecoderClient>();
  const leaving = new Set<Promise<void>>();

  function end(client: DecoderClient) {
    const left = Promise.resolve(client[Symbol.asyncDispose]()).finally(() => leaving.delete(left));
    leaving.add(left);
  }

  return {
    take() {
      // Decoders that are on their way out still hold their memory and count.
      if (taken.size + leaving.size >= size) {
        throw new EngineBusy(leaving.size > 0 ? 1 : LIMITS.engines.decoderRetrySeconds);
      }
      const client = idle.pop() ?? makeClient();
      taken.add(client);
      return client;
    },
    giveBack(client, retire) {
      if (!taken.delete(client)) return;
      // A thread that died has nothing left to do.
      if (retire && client.thread !== undefined) end(client);
      else idle.push(client);
    },
    get taken() {
      return taken.size;
    },
    async [Symbol.asyncDispose]() {
      for (const client of [...idle.splice(0), ...taken]) end(client);
      await Promise.all(leaving);
    },
  };
}
