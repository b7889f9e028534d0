import { EngineMissing, type EngineName, type SoundEncoding } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import { createWorkerStreams } from '../threads/worker-streams.ts';
import type { EncoderContract } from './encoder-worker.ts';

export type SoundEncodingDeps = {
  readonly client: WorkerClient<EncoderContract>;
  /** Returns a sentence that names the missing package; undefined when the encoder is installed. */
  readonly missing: (encoder: EngineName) => string | undefined;
};

/**
 * Encodes files in a worker thread. Many files share the thread: each file is encoded a short piece at a time. The number of
 * open files is bounded, and an abandoned file counts until the worker has released it.
 */
export function createSoundEncoding({ client, missing }: SoundEncodingDeps): SoundEncoding {
  const streams = createWorkerStreams(client, ENGINE_LIMITS.encoding.streams);

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
