/**
 * Turns at the processor, shared by worker threads. At most `places` threads compute at a time, in the order of their requests,
 * so that a core is left for the media loop however many decoders are busy.
 */
import { assert } from '../../kernel/assert.ts';

const NEXT_TICKET = 0;
const ENDED = 1;
const PLACES = 2;
const FIRST_HOLDER = 3;
/** Upper bound of the threads alive at a time: far above the sum of all decoder pools and of the decoders being ended. */
const HOLDERS = 64;

/** Pass of one thread: the shared memory of the turns, and the number of the thread's holder. */
export type TurnPass = { readonly memory: SharedArrayBuffer; readonly holder: number };

export type Turns = {
  /** Returns a pass for one more thread. No two living threads share a holder number. */
  pass(): TurnPass;
  /** Ends the turn of a thread that died, and frees its holder number. */
  giveBack(pass: TurnPass): void;
};

export function createTurns(places: number): Turns {
  const memory = new SharedArrayBuffer((FIRST_HOLDER + HOLDERS) * Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(memory)[PLACES] = Math.max(1, places);
  const free = Array.from({ length: HOLDERS }, (_, holder) => holder);
  return {
    pass() {
      const holder = free.shift();
      assert(holder !== undefined, `at most ${HOLDERS} threads take turns`);
      return { memory, holder };
    },
    giveBack(pass) {
      assert(!free.includes(pass.holder), 'a pass is given back once');
      endTurn(pass);
      free.push(pass.holder);
    },
  };
}

/** Blocks this thread until its turn has come. Never call this on the main thread. */
export function takeTurn({ memory, holder }: TurnPass): void {
  const words = new Int32Array(memory);
  Atomics.store(words, FIRST_HOLDER + holder, 1);
  const ticket = Atomics.add(words, NEXT_TICKET, 1);
  for (;;) {
    const ended = Atomics.load(words, ENDED);
    // The difference stays correct when the counters overflow.
    if (((ticket - ended) | 0) < (words[PLACES] as number)) return;
    Atomics.wait(words, ENDED, ended);
  }
}

/**
 * Ends the turn that a holder has or waits for; does nothing without one. The main thread calls it for a thread that died: its
 * ticket then counts as served, so that no later ticket waits for it.
 */
export function endTurn({ memory, holder }: TurnPass): void {
  const words = new Int32Array(memory);
  if (Atomics.exchange(words, FIRST_HOLDER + holder, 0) === 0) return;
  Atomics.add(words, ENDED, 1);
  Atomics.notify(words, ENDED);
}
