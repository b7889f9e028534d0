import { assert } from '../kernel/assert.ts';

/** Holds a part that is built after the parts that use it. They may read it only when the server runs. */
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
