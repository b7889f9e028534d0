import { serveWorker } from '../threads/worker-host.ts';
import type { SttContract } from './stt-contract.ts';
import type { Utterances } from './utterances.ts';

/** The worker's side of a live stream; `prepare` runs when a stream begins. */
export function serveDecoder(
  utterances: Utterances,
  prepare?: (start: SttContract['start']['in']) => Promise<void>,
): void {
  serveWorker<SttContract>({
    async start(options) {
      await utterances.begin();
      await prepare?.(options);
      return null;
    },
    push: (pcm) => utterances.push(pcm),
    finish: () => utterances.finish(),
  });
}
