import { RecentMap } from '../../../kernel/recent-map.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { RESPONSES_LIMITS } from '../limits.ts';
import { deleteBeyondBounds } from './response-store.ts';

/** Rows and bytes that one agent added since its last trim, and its trims under way. */
type Added = {
  rows: number;
  bytes: number;
  running?: Promise<void> | undefined;
  /** Trim that begins after the running one, because rows were added since that one began. */
  next?: Promise<void> | undefined;
};

const { trimAfterBytes, trimAfterRows, trimmedAgents } = RESPONSES_LIMITS.kept;

/**
 * Deletes the responses of an agent beyond its bounds: after the first row that this process adds, then after every
 * `trimAfterRows` rows or `trimAfterBytes`. An agent has one trim under way at a time, so that it occupies one connection of
 * the pool.
 */
export class ResponseTrimmer {
  readonly #sql: Sql;
  readonly #agents = new RecentMap<number, Added>(trimmedAgents);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Counts an added row. Resolves when the trim that this row makes due has ended, or at once when none is due. */
  async added(agentId: number, bytes: number): Promise<void> {
    const added = this.#agents.get(agentId) ?? { rows: trimAfterRows, bytes: 0 };
    this.#agents.set(agentId, added);
    added.rows++;
    added.bytes += bytes;
    if (added.rows < trimAfterRows && added.bytes < trimAfterBytes) return;
    added.rows = 0;
    added.bytes = 0;
    await this.#trim(agentId, added);
  }

  #trim(agentId: number, added: Added): Promise<void> {
    if (added.running === undefined) {
      added.running = deleteBeyondBounds(this.#sql, agentId).finally(() => {
        added.running = undefined;
      });
      return added.running;
    }
    const trimAgain = () => {
      added.next = undefined;
      return this.#trim(agentId, added);
    };
    added.next ??= added.running.then(trimAgain, trimAgain);
    return added.next;
  }
}
