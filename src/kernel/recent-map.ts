/** A map of bounded size: the least recently used entry is forgotten beyond it. */
export class RecentMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #bound: number;

  constructor(bound: number) {
    this.#bound = bound;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > this.#bound && !oldest.done) this.#entries.delete(oldest.value);
  }
}
