import type { GuideEngine } from './engine.ts';
import type { TextContract } from './text-worker.ts';
import type { WorkerClient } from './worker-client.ts';

export type GuideDeps = {
  readonly client: WorkerClient<TextContract>;
  /** Throws EngineMissing where the engine's package was pruned. */
  readonly requirePresent: () => void;
};

/** The guide, which thinks in a worker. */
export function createGuide({ client, requirePresent }: GuideDeps): GuideEngine {
  return {
    async reply(request) {
      requirePresent();
      return client.call('reply', request);
    },
  };
}
