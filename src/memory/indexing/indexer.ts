import type { Clock } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Random } from '../../kernel/random.ts';
import { randomHex } from '../../kernel/random.ts';
import { type IndexItemsDeps, indexItems } from './index-items.ts';
import { type ClaimedItem, claimItems, renewClaims } from './indexing-store.ts';

export type IndexerDeps = IndexItemsDeps & { readonly clock: Clock; readonly random: Random };

/** Items of one namespace that this process is at work on. */
type Work = { readonly claim: string; readonly ids: readonly string[] };

/**
 * Makes what was ingested findable. Any number of processes do so side by side: an item is claimed by one of them, and
 * claimed again where that one has died.
 */
export class Indexer {
  readonly #deps: IndexerDeps;
  /** By namespace, of which each has one piece of work under way. */
  readonly #busy = new Map<number, Work>();
  readonly #running = new Set<Promise<void>>();
  /** The last namespace that was claimed of: the next claim begins behind it. */
  #after = 0;
  #claiming: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;
  #renewedMs: number;

  constructor(deps: IndexerDeps) {
    this.#deps = deps;
    this.#renewedMs = deps.clock.monotonicMs();
  }

  /** Something was ingested: looks for it now. */
  wake(): void {
    this.#claim().catch((error: unknown) =>
      this.#deps.log.error({ err: error }, 'memories could not be claimed'),
    );
  }

  /** Begins what is due, as far as there is room, and renews the claims of what is under way. */
  async tick(): Promise<void> {
    const { clock, sql } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#renewedMs >= LIMITS.memory.indexing.renewMs) {
      this.#renewedMs = nowMs;
      const work = [...this.#busy.values()];
      const claims = work.map(({ claim }) => claim);
      if (work.length > 0)
        await renewClaims(
          sql,
          claims,
          work.flatMap(({ ids }) => ids),
        );
    }
    await this.#claim();
  }

  /** Resolves when nothing is under way here. */
  async idle(): Promise<void> {
    while (this.#claiming !== undefined || this.#running.size > 0) {
      await this.#claiming;
      await Promise.all(this.#running);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.idle();
  }

  /** One claim at a time; what is wanted meanwhile is looked for once more. */
  #claim(): Promise<void> {
    this.#isWanted = true;
    this.#claiming ??= this.#claimWhileWanted().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming;
  }

  async #claimWhileWanted(): Promise<void> {
    const { spacesAtOnce } = LIMITS.memory.indexing;
    while (this.#isWanted && !this.#isStopped && this.#busy.size < spacesAtOnce) {
      this.#isWanted = false;
      const began = await this.#claimSome(spacesAtOnce - this.#busy.size);
      // Behind the last namespace there may be none, and some before it.
      if (!began && this.#after > 0) {
        this.#after = 0;
        this.#isWanted = true;
      }
      this.#isWanted ||= began;
    }
  }

  async #claimSome(spaces: number): Promise<boolean> {
    const { random, sql } = this.#deps;
    const claim = randomHex(random, 12);
    const busy = [...this.#busy.keys()];
    const items = await claimItems(sql, { claim, after: this.#after, busy, spaces });
    const bySpace = new Map<number, ClaimedItem[]>();
    for (const item of items)
      bySpace.set(item.spaceId, [...(bySpace.get(item.spaceId) ?? []), item]);
    if (items.length > 0) this.#after = Math.max(...bySpace.keys());
    for (const [spaceId, group] of bySpace) this.#begin(spaceId, claim, group);
    return items.length > 0;
  }

  #begin(spaceId: number, claim: string, items: readonly ClaimedItem[]): void {
    this.#busy.set(spaceId, { claim, ids: items.map(({ id }) => id) });
    const running = indexItems(this.#deps, { claim, items, isOver: () => this.#isStopped })
      .catch((error: unknown) => {
        // The claim ends by itself, and the items are claimed again.
        this.#deps.log.error({ err: error, spaceId }, 'memories were not indexed');
      })
      .finally(() => {
        this.#busy.delete(spaceId);
        this.#running.delete(running);
        if (!this.#isStopped) this.wake();
      });
    this.#running.add(running);
  }
}
