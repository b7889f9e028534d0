import { soon } from '../kernel/clock.ts';

type Waiting<V> = {
  readonly found: Promise<V | undefined>;
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Joins look-ups that are wanted at the same time: all keys of one turn are loaded in one call, and look-ups of one key share
 * it. A look-up never joins a call that began before it, so it reads what was committed until then. `most` keys are in one
 * call, and `atOnce` calls run at a time; further keys wait.
 */
export function createBatchedLookup<V>(
  load: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
  { atOnce, most }: { readonly most: number; readonly atOnce: number },
): (key: string) => Promise<V | undefined> {
  const waiting = new Map<string, Waiting<V>>();
  let running = 0;
  let isDue = false;

  function start(): void {
    isDue = false;
    while (running < atOnce && waiting.size > 0) {
      const batch = [...waiting].slice(0, most);
      for (const [key] of batch) waiting.delete(key);
      running++;
      void run(batch);
    }
  }

  async function run(batch: readonly (readonly [string, Waiting<V>])[]): Promise<void> {
    try {
      const found = await load(batch.map(([key]) => key));
      for (const [key, { resolve }] of batch) resolve(found.get(key));
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    } finally {
      running--;
      start();
    }
  }

  return (key) => {
    let entry = waiting.get(key);
    if (entry === undefined) {
      entry = newWaiting<V>();
      waiting.set(key, entry);
    }
    if (!isDue) {
      isDue = true;
      soon(start);
    }
    return entry.found;
  };
}

function newWaiting<V>(): Waiting<V> {
  let resolve: Waiting<V>['resolve'] = () => {};
  let reject: Waiting<V>['reject'] = () => {};
  const found = new Promise<V | undefined>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { found, resolve, reject };
}
