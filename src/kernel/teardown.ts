/** Ends the registered parts in reverse order. Every step runs, even after another step has thrown. */
export class Teardown implements AsyncDisposable {
  readonly #steps: { readonly name: string; readonly undo: () => Promise<void> | void }[] = [];
  #done: Promise<void> | undefined;

  /** Registers `thing` to be disposed by the teardown, and returns `thing`. */
  use<T extends AsyncDisposable>(name: string, thing: T): T {
    this.defer(name, async () => thing[Symbol.asyncDispose]());
    return thing;
  }

  defer(name: string, undo: () => Promise<void> | void): void {
    this.#steps.push({ name, undo });
  }

  /** Ends everything, last begun first; a second call waits for the first. Rejects with all errors of the ends together. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#done ??= this.#run();
    return this.#done;
  }

  async #run(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step.undo();
      } catch (error) {
        failures.push(new Error(`${step.name} did not end cleanly`, { cause: error }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'shutdown was not clean');
  }
}
