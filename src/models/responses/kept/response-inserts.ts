import { soon } from '../../../kernel/clock.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { refusesValue } from '../../../platform/postgres/transient.ts';
import { insertResponses, type NewResponse } from './response-store.ts';

type Waiting = {
  readonly row: NewResponse;
  readonly written: () => void;
  readonly failed: (error: unknown) => void;
};

/**
 * Inserts the responses of this process, one statement at a time: those that end in the same turn of the event loop, or
 * while a statement is under way, go together in the next, because a statement costs more than its rows. Each waits in
 * memory with the request that it answers.
 */
export class ResponseInserts {
  readonly #sql: Sql;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Resolves when the row is committed. Rejects with the error of the database. */
  insert(row: NewResponse): Promise<void> {
    return new Promise((written, failed) => {
      this.#waiting.push({ row, written, failed });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  /** Rejects never. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // One settlement in the ledger ends many responses at once.
    await new Promise<void>(soon);
    while (this.#waiting.length > 0) await this.#write(this.#takeNext());
    this.#isWriting = false;
  }

  #takeNext(): Waiting[] {
    const { rowsPerInsert, bytesPerInsert } = LIMITS.responses;
    let bytes = 0;
    const end = this.#waiting.findIndex(({ row }, at) => {
      bytes += row.sealed.length;
      return at > 0 && (at >= rowsPerInsert || bytes > bytesPerInsert);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** A row that the database refuses costs no other: they go one by one then. */
  async #write(together: readonly Waiting[]): Promise<void> {
    try {
      await insertResponses(
        this.#sql,
        together.map(({ row }) => row),
      );
      for (const { written } of together) written();
    } catch (error) {
      if (together.length > 1 && refusesValue(error)) {
        for (const one of together) await this.#write([one]);
      } else {
        for (const { failed } of together) failed(error);
      }
    }
  }
}
