import { EngineBusy } from '../../engines/engine.ts';
import type { FairQueue } from '../../engines/threads/fair-queue.ts';
import { errors } from '../../kernel/errors.ts';

/** Asks the database when the agent's turn has come. Throws `vendor_unavailable` where too many wait. */
export async function turnOf<T>(
  line: FairQueue,
  agentId: number,
  find: () => Promise<T>,
): Promise<T> {
  try {
    return await line.run(agentId, find);
  } catch (error) {
    if (error instanceof EngineBusy) throw errors.memory.vendorBusy(error.retryAfterSeconds);
    throw error;
  }
}
