import {
  loadPocketsphinx,
  type PocketsphinxFiles,
} from '../../src/engines/asr/pocketsphinx-runtime.ts';
import { serveDecoder } from '../../src/engines/asr/serve-decoder.ts';
import { createUtterances } from '../../src/engines/asr/utterances.ts';
import { workerOptions } from '../../src/engines/threads/worker-host.ts';

export type TrappingOptions = {
  readonly files: PocketsphinxFiles;
  /** The first decoder traps when it is fed for this time. */
  readonly trapOnFeed: number;
};

/** The real recogniser, but its first decoder traps in the middle of an utterance. */
const { files, trapOnFeed } = workerOptions<TrappingOptions>();
let made = 0;

serveDecoder(
  createUtterances({
    async makeDecoder() {
      const decoder = await loadPocketsphinx(files, 1);
      if (++made > 1) return decoder;
      let feeds = 0;
      return {
        ...decoder,
        feed(pcm) {
          // Half fed, half not: what a trap leaves behind is not to be used again.
          decoder.feed(pcm.subarray(0, pcm.length >> 1));
          if (++feeds === trapOnFeed) throw new Error('float unrepresentable in integer range');
          decoder.feed(pcm.subarray(pcm.length >> 1));
        },
      };
    },
  }),
);
