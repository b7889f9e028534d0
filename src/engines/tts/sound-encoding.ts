import { LIMITS } from '../../kernel/limits.ts';
import { EngineMissing, type EngineName, type SoundEncoding } from '../engine.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import { createWorkerStreams } from '../threads/worker-streams.ts';
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
  const streams = createWorkerStreams(client, LIMITS.engines.encoding.streams);

  return {
    makes: (format) => missing(format) === undefined,
    async open(format) {
      const sentence = missing(format);
      if (sentence !== undefined) throw new EngineMissing(sentence);
      const { stream, close } = streams.open();
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
