import { HEARING_WINDOW } from '../../../media/hearing.ts';
import { serveWorker, workerOptions } from '../threads/worker-host.ts';
import { loadSilero, type SileroStream } from './silero.ts';

export type VadWorkerOptions = { readonly weights: string };

/** Calls of the worker: `judge` evaluates windows of many listeners, whose audio is in `pcm` in the order of `streams`. */
export type VadContract = {
  readonly judge: {
    readonly in: {
      readonly streams: readonly number[];
      readonly pcm: Int16Array;
      readonly closed: readonly number[];
    };
    readonly out: readonly number[];
  };
};

/** Windows evaluated at the start: one second of audio, after which V8 has compiled the model's inner loops. */
const WARMING_WINDOWS = 32;

const silero = loadSilero(workerOptions<VadWorkerOptions>().weights);
const listeners = new Map<number, SileroStream>();
warm();

/**
 * Runs the model before a session needs it. A thread's first windows take ten times as long as later windows, and on a busy
 * machine their answers would come after the session has stopped waiting.
 */
function warm(): void {
  const stream = silero.open();
  const window = Int16Array.from({ length: HEARING_WINDOW }, (_, i) => (i * 7_919) % 8_192);
  for (let i = 0; i < WARMING_WINDOWS; i++) stream.probability(window);
}

function listenerOf(stream: number): SileroStream {
  const listener = listeners.get(stream) ?? silero.open();
  listeners.set(stream, listener);
  return listener;
}

serveWorker<VadContract>({
  judge({ streams, pcm, closed }) {
    const probabilities = streams.map((stream, index) =>
      listenerOf(stream).probability(
        pcm.subarray(index * HEARING_WINDOW, (index + 1) * HEARING_WINDOW),
      ),
    );
    for (const stream of closed) listeners.delete(stream);
    return probabilities;
  },
});
