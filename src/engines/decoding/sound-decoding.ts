import { soundKind } from '../../../media/coded/sound-kind.ts';
import type { SoundDecoding } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import { createWorkerStreams } from '../threads/worker-streams.ts';
import type { DecodingContract } from './decoding-worker.ts';
import type { HeardBatch } from './heard-file.ts';

export type SoundDecodingDeps = {
  readonly client: WorkerClient<DecodingContract>;
  /** Throws EngineMissing when the package was pruned. */
  readonly requirePresent: () => void;
};

/** Decodes files in a worker thread. Many files share the thread: each file is decoded some seconds at a time. */
export function createSoundDecoding({ client, requirePresent }: SoundDecodingDeps): SoundDecoding {
  const streams = createWorkerStreams(client, ENGINE_LIMITS.decoding.files);

  return {
    async open(bytes, statedMs) {
      if (soundKind(bytes) !== 'wav') requirePresent();
      const { stream, close } = streams.open();
      // The caller keeps its bytes, since another source may be tried next.
      const copy = new Uint8Array(bytes);
      let batch: HeardBatch;
      try {
        batch = await client.call('open', { stream, bytes: copy, statedMs }, [copy.buffer]);
      } catch (error) {
        close();
        throw error;
      }
      let isTaken = false;
      return {
        async next() {
          while (isTaken || batch.pcm.length === 0) {
            if (batch.isEnd) return undefined;
            isTaken = false;
            batch = await client.call('next', { stream });
          }
          isTaken = true;
          return batch.pcm;
        },
        get soundMs() {
          return batch.soundMs;
        },
        close,
      };
    },
  };
}
