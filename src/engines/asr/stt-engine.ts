import { HEARING_HZ } from '../../../media/hearing.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { SttEngine } from '../engine.ts';
import type { DecoderPool } from './decoder-pool.ts';
import { openSttStream } from './stt-stream.ts';

export type SttEngineDeps = {
  readonly pool: DecoderPool;
  /** Throws EngineMissing where the engine's package was pruned. */
  readonly requirePresent: () => void;
};

const PATIENCE_SAMPLES = LIMITS.engines.decoderBacklogSeconds * HEARING_HZ;

/** A recogniser of this process: each open stream holds one decoder of the pool until it is closed. */
export function createSttEngine({ pool, requirePresent }: SttEngineDeps): SttEngine {
  return {
    async open({ sampleRateHz, listener, grammar }) {
      requirePresent();
      const client = pool.take();
      try {
        await client.call('start', grammar === undefined ? {} : { grammar });
        return openSttStream({
          client,
          sampleRateHz,
          listener,
          released: (undecoded) => pool.giveBack(client, undecoded > PATIENCE_SAMPLES),
        });
      } catch (error) {
        pool.giveBack(client, false);
        throw error;
      }
    },
  };
}
