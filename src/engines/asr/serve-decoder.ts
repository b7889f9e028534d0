import { systemClock } from '../../kernel/clock.ts';
import type { Transcript } from '../engine.ts';
import { serveWorker } from '../threads/worker-host.ts';
import type { Decoded, SttContract } from './stt-contract.ts';
import type { Utterances } from './utterances.ts';

/** Serves live streams in a worker thread. `prepare` runs when a stream begins. */
export function serveDecoder(
  utterances: Utterances,
  prepare?: (start: SttContract['start']['in']) => Promise<void>,
): void {
  async function timed(work: Promise<readonly Transcript[]>): Promise<Decoded> {
    const beganMs = systemClock.monotonicMs();
    const transcripts = await work;
    const workMs = systemClock.monotonicMs() - beganMs;
    return { transcripts, workMs, isBetween: utterances.isBetween };
  }

  serveWorker<SttContract>({
    async start(options) {
      await utterances.begin(options.state);
      await prepare?.(options);
      return null;
    },
    push: (pcm) => timed(utterances.push(pcm)),
    finish: () => timed(utterances.finish()),
    leave: () => utterances.leave(),
  });
}
