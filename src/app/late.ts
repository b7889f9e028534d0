import { assert } from '../kernel/assert.ts';

/** A part that is built after those that use it: they ask for it only once the server runs. */
export class Late<T> {
  #part: T | undefined;

  get part(): T {
    assert(this.#part !== undefined, 'a part is asked for when the server is whole');
    return this.#part;
  }

  set part(part: T) {
    this.#part = part;
  }
}
