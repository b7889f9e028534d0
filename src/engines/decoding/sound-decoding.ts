import { soundKind } from '../../../media/coded/sound-kind.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { EngineBusy, type SoundDecoding } from '../engine.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import type { DecodingContract } from './decoding-worker.ts';
import type { HeardBatch } from './heard-file.ts';

export type SoundDecodingDeps = {
  readonly client: WorkerClient<DecodingContract>;
  /** Throws EngineMissing. */
  readonly requirePresent: () => void;
};

/** Decodes in a worker thread, many files in turns: each is asked for some seconds of sound at a time. */
export function createSoundDecoding({ client, requirePresent }: SoundDecodingDeps): SoundDecoding {
  let nextFile = 1;
  let open = 0;

  function closeOnce(file: number): () => void {
    let isClosed = false;
    const closed = () => {
      open--;
    };
    return () => {
      if (isClosed) return;
      isClosed = true;
      // A thread that died took its files with it: no new one is started only to close them.
      if (client.thread === undefined) return closed();
      client.call('close', { file }).then(closed, closed);
    };
  }

  return {
    async open(bytes, statedMs) {
      if (soundKind(bytes) !== 'wav') requirePresent();
      if (open >= LIMITS.engines.decoding.files) throw new EngineBusy(1);
      open++;
      const file = nextFile++;
      const close = closeOnce(file);
      // The caller keeps its bytes, for another source may be asked next.
      const copy = new Uint8Array(bytes);
      let batch: HeardBatch;
      try {
        batch = await client.call('open', { file, bytes: copy, statedMs }, [copy.buffer]);
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
            batch = await client.call('next', { file });
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
