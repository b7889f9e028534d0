import type { Clock } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { EngineBusy, type VadEngine } from '../engine.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import { createVadLine } from './vad-line.ts';
import type { VadContract } from './vad-worker.ts';

export type VadDeps = {
  readonly client: WorkerClient<VadContract>;
  readonly clock: Clock;
  /** Throws EngineMissing where the engine's package was pruned. */
  readonly requirePresent: () => void;
};

const UNANSWERED = Promise.resolve(Number.NaN);

const { vadStreams, vadLateMs } = LIMITS.engines;

/** Gives each listener of the room a place in the one worker that judges for all of them. */
export function createVad({ client, clock, requirePresent }: VadDeps): VadEngine {
  const judge = createVadLine({
    clock,
    lateMs: vadLateMs,
    judge: (batch) => client.call('judge', batch, [batch.pcm.buffer as ArrayBuffer]),
  });
  const open = new Set<number>();
  let nextStream = 1;
  let ready: Promise<unknown> | undefined;

  /** A model that is still being loaded would answer too late, so the first listeners wait for it. */
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
      if (open.size >= vadStreams) throw new EngineBusy(LIMITS.engines.decoderRetrySeconds);
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
