import { EngineBusy } from '../../engines/engine.ts';
import type { FairQueue } from '../../engines/threads/fair-queue.ts';
import { memoryErrors } from '../errors.ts';

/** Runs a database search when it is the agent's turn. Throws `vendor_unavailable` when too many searches wait. */
export async function turnOf<T>(
  line: FairQueue,
  agentId: number,
  find: () => Promise<T>,
): Promise<T> {
  try {
    return await line.run(agentId, find);
  } catch (error) {
    if (error instanceof EngineBusy) throw memoryErrors.vendorBusy(error.retryAfterSeconds);
    throw error;
  }
}
