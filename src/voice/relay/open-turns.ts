import { LIMITS } from '../../kernel/limits.ts';
import { RecentMap } from '../../kernel/recent-map.ts';

/** The turns of a relayed session as the upstream reports them: turns in progress and turns that ended. */
export class OpenTurns {
  readonly #open = new Set<string>();
  /** Number of turns in progress whose upstream sends no turn ids. */
  #nameless = 0;
  readonly #over = new RecentMap<string, true>(LIMITS.relayKnownTurns);

  get size(): number {
    return this.#open.size + this.#nameless;
  }

  /** Ids of the turns in progress. */
  get ids(): Iterable<string> {
    return this.#open;
  }

  get hasNameless(): boolean {
    return this.#nameless > 0;
  }

  /** Records the beginning of a turn. Returns false when more turns are in progress than a session may have. */
  begin(id: string | null): boolean {
    if (id === null) this.#nameless++;
    else if (this.#over.get(id) === undefined) this.#open.add(id);
    return this.size <= LIMITS.relayResponses;
  }

  /** Records the end of a turn. Returns false when the turn had ended before and must not be billed again. */
  end(id: string | null): boolean {
    if (id === null) {
      this.#nameless = Math.max(0, this.#nameless - 1);
      return true;
    }
    this.#open.delete(id);
    if (this.#over.get(id) !== undefined) return false;
    this.#over.set(id, true);
    return true;
  }
}
