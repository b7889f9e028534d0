import { LIMITS } from '../../kernel/limits.ts';
import { EngineBusy, EngineMissing, type EngineName, type SoundEncoding } from '../engine.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import type { EncoderContract } from './encoder-worker.ts';

export type SoundEncodingDeps = {
  readonly client: WorkerClient<EncoderContract>;
  /** A sentence that says what is missing, or nothing. */
  readonly missing: (encoder: EngineName) => string | undefined;
};

/**
 * Encodes in a worker thread, many files in turns: each is asked for a short piece at a time. The number of files under
 * way is bounded, and one that was given up counts until the worker has let go of it.
 */
export function createSoundEncoding({ client, missing }: SoundEncodingDeps): SoundEncoding {
  let nextStream = 1;
  let open = 0;

  function closeOnce(stream: number): () => void {
    let isClosed = false;
    const closed = () => {
      open--;
    };
    return () => {
      if (isClosed) return;
      isClosed = true;
      // A thread that died took its streams with it: no new one is started only to close them.
      if (client.thread === undefined) return closed();
      client.call('close', { stream }).then(closed, closed);
    };
  }

  return {
    makes: (format) => missing(format) === undefined,
    async open(format) {
      const sentence = missing(format);
      if (sentence !== undefined) throw new EngineMissing(sentence);
      if (open >= LIMITS.engines.encoding.streams) throw new EngineBusy(1);
      open++;
      const stream = nextStream++;
      const close = closeOnce(stream);
      try {
        await client.call('open', { stream, format });
      } catch (error) {
        close();
        throw error;
      }
      return {
        push: (pcm) => client.call('push', { stream, pcm }, [pcm.buffer as ArrayBuffer]),
        finish: () => client.call('finish', { stream }),
        close,
      };
    },
  };
}
