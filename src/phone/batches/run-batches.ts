import type { Worker } from '../../kernel/schedule.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { advanceBatch } from './advance-batch.ts';
import { placeRow } from './place-row.ts';
import { claimDueBatches } from './run-store.ts';

const BOUNDS = PHONE_LIMITS.batch;

/** Gives batches their turns, and places their calls beside them. Its end waits for the calls that are being placed. */
export type BatchRunner = Worker & AsyncDisposable;

/** Any number of processes may run the batches of one database: each turn and each row is one process's. */
export function createBatchRunner(deps: CallDeps): BatchRunner {
  const { dials, log, sql } = deps;
  /** The calls that are being placed, and their agents. */
  const placing = new Map<Promise<void>, number>();

  const roomOf = (agentId: number): number => {
    const own = [...placing.values()].filter((each) => each === agentId).length;
    return Math.min(BOUNDS.placing.agent - own, BOUNDS.placing.process - placing.size, ofLine());
  };

  const ofLine = (): number => {
    if (dials === undefined) return Number.POSITIVE_INFINITY;
    const places = Math.max(1, Math.floor((dials.perSecond * BOUNDS.lineMs) / 1_000));
    return places - Math.max(dials.waiting, placing.size);
  };

  async function turn(batchId: string, agentId: number): Promise<void> {
    const taken = await advanceBatch(deps, batchId, roomOf(agentId));
    for (const row of taken?.rows ?? []) {
      if (taken === undefined) return;
      const placed = placeRow(deps, taken.batch, row)
        .catch((err: unknown) =>
          log.error(
            { err, batchId, seq: row.seq },
            'a call of a batch was not placed; it is tried again',
          ),
        )
        .finally(() => placing.delete(placed));
      placing.set(placed, agentId);
    }
  }

  return {
    name: 'run-call-batches',
    everyMs: BOUNDS.tickMs,
    async tick() {
      for (let passes = 0; passes < BOUNDS.passesPerTick; passes++) {
        const due = await claimDueBatches(sql, BOUNDS.duePerPass);
        for (const { agentId, batchId } of due) {
          await turn(batchId, agentId).catch((err: unknown) =>
            log.error({ err, batchId }, 'a batch of calls had no turn; it has one soon'),
          );
        }
        if (due.length < BOUNDS.duePerPass) return;
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(placing.keys());
    },
  };
}
