/** Map of bounded size: beyond the bound, the least recently used entry is removed. */
export class RecentMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #bound: number;
  /** Key that was used last. It is not moved when it is used again, since each move makes a small map anew. */
  #newest: K | undefined;

  constructor(bound: number) {
    this.#bound = bound;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined && key !== this.#newest) this.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    if (key !== this.#newest) this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    if (this.#entries.size <= this.#bound) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Iterates from the oldest entry to the newest. An entry may be deleted while it is visited. */
  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries[Symbol.iterator]();
  }
}
