import { LIMITS } from '../../kernel/limits.ts';
import type { GuideEngine } from '../engine.ts';
import { createFairLine, type FairLine } from '../threads/fair-line.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import type { TextContract } from './text-worker.ts';

export type GuideDeps = {
  readonly client: WorkerClient<TextContract>;
  /** Throws EngineMissing where the engine's package was pruned. */
  readonly requirePresent: () => void;
  /** Where agents wait for the thread that embeds and answers. */
  readonly line?: FairLine;
};

/** The guide, which thinks in a worker. */
export function createGuide({
  client,
  requirePresent,
  line = createFairLine(LIMITS.engines.line),
}: GuideDeps): GuideEngine {
  return {
    async reply({ agentId, ...request }) {
      requirePresent();
      return line.run(agentId, () => client.call('reply', request));
    },
  };
}
