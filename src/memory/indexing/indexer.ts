import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import { randomHex } from '../../kernel/random.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import { indexItems } from './index-items.ts';
import type { IndexItemsDeps } from './indexing-deps.ts';
import {
  type ClaimedItem,
  claimItems,
  lookForWork,
  type Queue,
  renewClaims,
} from './indexing-store.ts';
import { planClaims } from './plan-claims.ts';

export type IndexerDeps = IndexItemsDeps & { readonly clock: Clock; readonly random: Random };

/** Items of one namespace that this process is indexing. */
type Work = { readonly claim: string; readonly agentId: number; readonly ids: readonly string[] };

/**
 * Indexes ingested items, a few of each agent at a time. Any number of processes share the work: one process claims an item,
 * and another process claims it again when the first one has died.
 */
export class Indexer {
  readonly #deps: IndexerDeps;
  /** Work in progress by namespace. A namespace has one piece of work at a time. */
  readonly #busy = new Map<number, Work>();
  readonly #running = new Set<Promise<void>>();
  /** Id of the last agent that was examined. The next search begins after it. */
  #after = 0;
  /** Id of the last examined namespace, by agent. An agent without an entry begins at its first namespace. */
  readonly #places = new Map<number, number>();
  #claiming: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;
  #renewedMs: number;

  constructor(deps: IndexerDeps) {
    this.#deps = deps;
    this.#renewedMs = deps.clock.monotonicMs();
  }

  /** Looks for ingested items now. */
  wake(): void {
    this.#claim().catch((error: unknown) =>
      this.#deps.log.error({ err: error }, 'memories could not be claimed'),
    );
  }

  /** Begins due work up to the bound of work in progress, and renews the claims of work in progress. */
  async tick(): Promise<void> {
    const { clock, sql } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#renewedMs >= MEMORY_LIMITS.indexing.renewMs) {
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

  /** Resolves when no work is in progress in this process. */
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

  /** Claims items, one claim at a time. A request during a claim makes it look once more. */
  #claim(): Promise<void> {
    this.#isWanted = true;
    this.#claiming ??= this.#claimWhileWanted().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming;
  }

  async #claimWhileWanted(): Promise<void> {
    const { looks, spacesAtOnce } = MEMORY_LIMITS.indexing;
    let left: number = looks;
    while (this.#isWanted && !this.#isStopped && this.#busy.size < spacesAtOnce) {
      this.#isWanted = false;
      const outcome = await this.#claimSome(spacesAtOnce - this.#busy.size);
      left = outcome === 'begun' ? looks : left - 1;
      this.#isWanted ||= outcome !== 'none' && left > 0;
    }
  }

  /** Claims due items and starts indexing. `some`: started none, but items may be due in namespaces not yet examined. */
  async #claimSome(room: number): Promise<'begun' | 'some' | 'none'> {
    const { sql } = this.#deps;
    const { agentsPerLook, spacesPerLook } = MEMORY_LIMITS.indexing;
    const from = this.#after;
    const looked = await lookForWork(sql, { after: from, places: this.#places });
    const isWhole = ([agentId, queues]: readonly [number, readonly Queue[]]) =>
      !this.#places.has(agentId) && queues.length < spacesPerLook;
    const sawAll = from === 0 && looked.size < agentsPerLook && [...looked].every(isWhole);
    const busy = new Map([...this.#busy].map(([spaceId, { agentId }]) => [spaceId, agentId]));
    const { after, places, queues } = planClaims(looked, { busy, room });
    // After the last agent, the next look begins at the first agent.
    const isAtEnd = looked.size < agentsPerLook && after === Math.max(0, ...looked.keys());
    this.#after = isAtEnd ? 0 : after;
    this.#remember(places);
    const hasBegun = queues.length > 0 && (await this.#claimOf(queues));
    if (hasBegun) return 'begun';
    return sawAll ? 'none' : 'some';
  }

  async #claimOf(queues: readonly Queue[]): Promise<boolean> {
    const claim = randomHex(this.#deps.random, 12);
    const bySpace = new Map<number, ClaimedItem[]>();
    for (const item of await claimItems(this.#deps.sql, { claim, queues })) {
      const group = bySpace.get(item.spaceId);
      if (group === undefined) bySpace.set(item.spaceId, [item]);
      else group.push(item);
    }
    for (const [spaceId, group] of bySpace) this.#begin(spaceId, claim, group);
    return bySpace.size > 0;
  }

  #remember(places: ReadonlyMap<number, number | undefined>): void {
    for (const [agentId, place] of places) {
      this.#places.delete(agentId);
      if (place !== undefined) this.#places.set(agentId, place);
    }
    for (const agentId of this.#places.keys()) {
      if (this.#places.size <= MEMORY_LIMITS.indexing.agentsRemembered) break;
      this.#places.delete(agentId);
    }
  }

  #begin(spaceId: number, claim: string, items: readonly ClaimedItem[]): void {
    const agentId = items[0]?.agentId ?? 0;
    this.#busy.set(spaceId, { claim, agentId, ids: items.map(({ id }) => id) });
    const running = indexItems(this.#deps, { claim, items, isOver: () => this.#isStopped })
      .catch((error: unknown) => {
        // The claim expires by itself. Then the items are claimed again.
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
