import type { Worker } from '../../../kernel/schedule.ts';
import type { Queryable, Sql } from '../../../platform/postgres/sql.ts';
import { RESPONSES_LIMITS } from '../limits.ts';
import { deleteExpired, deleteResponsesOf } from './response-store.ts';

const EVERY_MS = 60_000;

/** Creates the worker that deletes expired responses. It runs in every process. */
export function createResponseForgetter({ sql }: { readonly sql: Sql }): Worker {
  return {
    name: 'forget-responses',
    everyMs: EVERY_MS,
    async tick() {
      const { duePerPass, passesPerTick } = RESPONSES_LIMITS.kept;
      for (let pass = 0; pass < passesPerTick; pass++) {
        if ((await deleteExpired(sql, duePerPass)) < duePerPass) return;
      }
    },
  };
}

/** Deletes an agent's responses in the sql transaction that closes the agent. */
export async function forgetResponsesAtClose(tx: Queryable, agentId: number): Promise<void> {
  await deleteResponsesOf(tx, agentId);
}
