import { LIMITS } from '../../kernel/limits.ts';
import { RecentMap } from '../../kernel/recent-map.ts';

/** The turns of a relayed session as its upstream tells of them: those under way, and those that are over. */
export class OpenTurns {
  readonly #open = new Set<string>();
  /** Of an upstream that does not name its turns. */
  #nameless = 0;
  readonly #over = new RecentMap<string, true>(LIMITS.relayKnownTurns);

  get size(): number {
    return this.#open.size + this.#nameless;
  }

  /** Those under way, by their names. */
  get ids(): Iterable<string> {
    return this.#open;
  }

  get hasNameless(): boolean {
    return this.#nameless > 0;
  }

  /** False: there are more than a session may have. */
  begin(id: string | null): boolean {
    if (id === null) this.#nameless++;
    else if (this.#over.get(id) === undefined) this.#open.add(id);
    return this.size <= LIMITS.relayResponses;
  }

  /** False: it was over already, and is not to be billed again. */
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
