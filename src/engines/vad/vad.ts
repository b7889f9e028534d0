import type { Clock } from '../../kernel/clock.ts';
import { EngineBusy, type VadEngine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import { createVadQueue } from './vad-queue.ts';
import type { VadContract } from './vad-worker.ts';

export type VadDeps = {
  readonly client: WorkerClient<VadContract>;
  readonly clock: Clock;
  /** Throws EngineMissing when the engine's package was pruned. */
  readonly requirePresent: () => void;
};

const UNANSWERED = Promise.resolve(Number.NaN);

const { streams: vadStreams, lateMs: vadLateMs } = ENGINE_LIMITS.vad;

/** Creates the voice-activity engine: all listeners of the process share one worker. */
export function createVad({ client, clock, requirePresent }: VadDeps): VadEngine {
  const judge = createVadQueue({
    clock,
    lateMs: vadLateMs,
    judge: (batch) => client.call('judge', batch, [batch.pcm.buffer as ArrayBuffer]),
  });
  const open = new Set<number>();
  let nextStream = 1;
  let ready: Promise<unknown> | undefined;

  /** Loads the model. The first listeners wait for it, because a model that is still loading would answer too late. */
  async function load() {
    ready ??= client.call('judge', { streams: [], pcm: new Int16Array(0), closed: [] });
    try {
      await ready;
    } catch (error) {
      ready = undefined;
      throw error;
    }
  }

  return {
    async open() {
      requirePresent();
      if (open.size >= vadStreams) throw new EngineBusy(ENGINE_LIMITS.decoder.retrySeconds);
      await load();
      const stream = nextStream++;
      open.add(stream);
      return {
        probability: (window) => (open.has(stream) ? judge.ask(stream, window) : UNANSWERED),
        close() {
          if (open.delete(stream)) judge.close(stream);
        },
      };
    },
  };
}
