import type { ReservedSql } from 'postgres';
import type { Log } from '../../kernel/log.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import { fillSpace } from './fill-vectors.ts';
import {
  alone,
  countRows,
  dropGraph,
  findUselessGraphs,
  listGraphs,
  makeGraph,
} from './graphs-store.ts';
import { lookAt } from './vectors-store.ts';

const { comparedRows, fillEveryMs, fillsPerTick, graphEveryMs, graphs, spacesPerLook, wanted } =
  MEMORY_LIMITS.pgvector;

/**
 * Fills the index in the database with missing chunks: chunks from before the extension, from a backup, or of processes without
 * the extension. Makes graphs of large spaces and drops the graphs of deleted spaces. Any number of processes may do so.
 */
export class VectorKeeper {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #comparedRows: number;
  /** Spaces to be filled: spaces that a search requested, and spaces that the regular check has found. */
  readonly #behind = new Set<number>();
  /** Dimensions of the spaces that may need a graph, by space id. */
  readonly #large = new Map<number, number>();
  /** Id of the last space that the regular check has examined. */
  #after = 0;
  #isStopped = false;
  #making: { cancel(): void } | undefined;

  constructor(deps: { readonly sql: Sql; readonly log: Log; readonly comparedRows?: number }) {
    this.#sql = deps.sql;
    this.#log = deps.log;
    this.#comparedRows = deps.comparedRows ?? comparedRows;
  }

  /** Requests that a space be filled, after a search of that space. */
  want(spaceId: number): void {
    if (this.#behind.size < wanted) this.#behind.add(spaceId);
  }

  workers(): Worker[] {
    return [
      { name: 'fill-memory-vectors', everyMs: fillEveryMs, tick: () => this.fill() },
      { name: 'make-memory-graphs', everyMs: graphEveryMs, tick: () => this.keepGraphs() },
    ];
  }

  /** Fills some missing chunks, and checks some more spaces. */
  async fill(): Promise<void> {
    let left: number = fillsPerTick;
    for (const id of this.#behind) {
      let hasMore = true;
      while (hasMore && left > 0 && !this.#isStopped) {
        hasMore = await fillSpace(this.#sql, id);
        left--;
      }
      if (hasMore) break;
      this.#behind.delete(id);
    }
    if (left > 0 && !this.#isStopped) await this.#lookAround();
  }

  /** Drops graphs that are not needed, and builds one missing graph. */
  async keepGraphs(): Promise<void> {
    if (this.#isStopped) return;
    const found = await listGraphs(this.#sql);
    const valid = found.filter(({ isValid }) => isValid).map(({ spaceId }) => spaceId);
    for (const id of valid) this.#large.delete(id);
    const useless = await findUselessGraphs(this.#sql);
    const hasRoom = valid.length < graphs;
    if (useless.length === 0 && (this.#large.size === 0 || !hasRoom)) return;
    await alone(this.#sql, async (own) => {
      // No other process makes a graph now, so an invalid graph will never become valid.
      for (const id of await findUselessGraphs(own)) await dropGraph(own, id);
      if (hasRoom) await this.#makeOne(own);
    });
  }

  async #makeOne(own: ReservedSql): Promise<void> {
    const [next] = this.#large;
    if (next === undefined || this.#isStopped) return;
    const [spaceId, dims] = next;
    this.#large.delete(spaceId);
    if ((await countRows(own, spaceId)) <= this.#comparedRows) return;
    // Another process may have built the graph meanwhile.
    if ((await listGraphs(own)).some((graph) => graph.spaceId === spaceId)) return;
    const making = makeGraph(own, { spaceId, dims });
    this.#making = making;
    try {
      await making;
      this.#log.info({ spaceId }, 'a graph of memories was made');
    } catch (error) {
      if (!this.#isStopped) throw error;
    } finally {
      this.#making = undefined;
    }
  }

  /** Cancels a graph that is being made. The unfinished graph is dropped later. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#making?.cancel();
  }

  async #lookAround(): Promise<void> {
    const spaces = await lookAt(this.#sql, { after: this.#after, most: spacesPerLook });
    this.#after = spaces.length < spacesPerLook ? 0 : (spaces.at(-1)?.id ?? 0);
    for (const { dims, id, isBehind, rows } of spaces) {
      if (isBehind) this.want(id);
      if (rows > this.#comparedRows && this.#large.size < wanted) this.#large.set(id, dims);
    }
  }
}
