import { HeardFile } from '../../src/engines/decoding/heard-file.ts';
import {
  type DecodedFile,
  EngineInputRefused,
  type SoundDecoding,
} from '../../src/engines/engine.ts';

/** Decodes as the worker does, in this thread. */
export const decodingHere: SoundDecoding = {
  async open(bytes, statedMs) {
    const file = new HeardFile(bytes, statedMs);
    let soundMs = 0;
    let isEnd = false;
    const next = async () => {
      for (let pcm: Int16Array; !isEnd; ) {
        const batch = await file.next().catch((error: Error) => {
          throw new EngineInputRefused(error.message, 'file');
        });
        ({ isEnd, pcm, soundMs } = batch);
        if (pcm.length > 0) return pcm;
      }
      return undefined;
    };
    let first = await next();
    return {
      async next() {
        const pcm = first ?? (await next());
        first = undefined;
        return pcm;
      },
      get soundMs() {
        return soundMs;
      },
      close() {},
    };
  },
};

/** A file whose sound is there already: batches of whole frames. */
export function decodedFile(batches: Iterable<Int16Array>): DecodedFile {
  const iterator = batches[Symbol.iterator]();
  let samples = 0;
  return {
    async next() {
      const batch = iterator.next();
      if (batch.done === true) return undefined;
      samples += batch.value.length;
      return batch.value;
    },
    get soundMs() {
      return samples / 16;
    },
    close() {},
  };
}
