import { type Clock, soon } from '../../../kernel/clock.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { answerWithin, CallTimeout, isTransient } from '../../../platform/postgres/transient.ts';
import { RESPONSES_LIMITS } from '../limits.ts';
import { deleteResponses, insertResponses, type NewResponse } from './response-store.ts';

type Waiting = {
  readonly row: NewResponse;
  readonly written: () => void;
  readonly failed: (error: unknown) => void;
};

/**
 * Inserts the responses of this process in few statements, because a statement costs more than its rows: responses that end in
 * the same turn of the event loop, or during a statement, share the next one. Each waits in memory with the request that it
 * answers.
 */
export class ResponseInserts {
  readonly #sql: Sql;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  #writers = 0;

  constructor({ clock, sql }: { readonly sql: Sql; readonly clock: Clock }) {
    this.#sql = sql;
    this.#clock = clock;
  }

  /**
   * Resolves when the row is committed. Rejects with the error of the database, or when the database does not answer in time.
   */
  insert(row: NewResponse): Promise<void> {
    return new Promise((written, failed) => {
      this.#waiting.push({ row, written, failed });
      if (this.#writers < RESPONSES_LIMITS.kept.inserts) void this.#writeAll();
    });
  }

  /** Writes the waiting rows until none is left. Never rejects. */
  async #writeAll(): Promise<void> {
    this.#writers++;
    // Waits for the next turn of the event loop, because one settlement in the ledger ends many responses at once.
    await new Promise<void>(soon);
    while (this.#waiting.length > 0) await this.#write(this.#takeNext());
    this.#writers--;
  }

  #takeNext(): Waiting[] {
    const { rowsPerInsert, bytesPerInsert } = RESPONSES_LIMITS.kept;
    let bytes = 0;
    const end = this.#waiting.findIndex(({ row }, at) => {
      bytes += row.sealed.length;
      return at > 0 && (at >= rowsPerInsert || bytes > bytesPerInsert);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /**
   * Inserts rows together, and one by one after a failure, so that a bad row fails alone. When the database is unreachable all
   * remaining rows fail together, since each alone would wait as long again.
   */
  async #write(together: readonly Waiting[]): Promise<void> {
    let left = together;
    let perStatement = together.length;
    while (left.length > 0) {
      const batch = left.slice(0, perStatement);
      try {
        await this.#insert(batch);
        for (const { written } of batch) written();
      } catch (error) {
        if (isTransient(error)) {
          for (const { failed } of left) failed(error);
          return;
        }
        if (batch.length > 1) {
          perStatement = 1;
          continue;
        }
        for (const { failed } of batch) failed(error);
      }
      left = left.slice(batch.length);
    }
  }

  async #insert(batch: readonly Waiting[]): Promise<void> {
    const rows = batch.map(({ row }) => row);
    const inserted = insertResponses(this.#sql, rows);
    try {
      await answerWithin(this.#clock, RESPONSES_LIMITS.kept.insertMs, inserted);
    } catch (error) {
      if (error instanceof CallTimeout) void this.#takeBack(inserted, rows);
      throw error;
    }
  }

  /**
   * Deletes the rows of a statement that ran after it was given up: their clients got responses that say that nothing was kept.
   * Never rejects.
   */
  async #takeBack(inserted: Promise<void>, rows: readonly NewResponse[]): Promise<void> {
    try {
      await inserted;
      const ids = rows.map(({ id }) => id);
      await deleteResponses(this.#sql, ids);
    } catch {
      // The statement or the delete failed: the rows do not exist, or are deleted when they expire.
    }
  }
}
