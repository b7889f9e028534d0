import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { refusesValue } from '../../platform/postgres/transient.ts';
import type { SaidTurn } from '../records/said-turn.ts';
import { addTurns, type HeardOfTurn, noteHeard, type TurnOfCall } from './turn-store.ts';

/** Number of a call's turns that may wait to be stored. Turns beyond it are dropped. */
const MOST_WAITING = 64;
/** Number of a call's latest answers that can still be interrupted. */
const MOST_OPEN = 16;
/**
 * Milliseconds for which turns of all calls are collected and then stored together, because a statement costs more than its
 * rows.
 */
const GATHER_MS = 50;
const MOST_TOGETHER = 256;

/** Stores the turns of one call. */
export type CallTurns = {
  add(turn: SaidTurn): void;
  /** Notes an interrupted answer; `heard` is the part that was heard. */
  heard(itemId: string, heard: string): void;
  /** Resolves when all turns up to now are stored, or could not be stored. */
  flushed(): Promise<void>;
};

export type TurnWriter = { of(callId: string): CallTurns };

type Entry =
  | { readonly kind: 'said'; readonly turn: SaidTurn; readonly of: Book }
  | { readonly kind: 'heard'; readonly itemId: string; readonly heard: string; readonly of: Book };

type Said = Extract<Entry, { kind: 'said' }>;

/** State of the writer for one call. */
type Book = {
  readonly callId: string;
  waiting: number;
  /** Numbers of the latest stored answers, by item id. */
  readonly written: Map<string, number>;
};

/**
 * Creates the writer that stores the turns of this process's calls in the background, each call's turns in their order. A
 * killed process loses the turns of the last `GATHER_MS`.
 */
export function createTurnWriter(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly sql: Sql;
  /** A turn is written, under its number. */
  readonly written?: (callId: string, seq: number, turn: SaidTurn) => void;
}): TurnWriter {
  const { clock, log, sql, written } = deps;
  let entries: Entry[] = [];
  let isGathering = false;
  let round: Promise<void> | undefined;

  function enqueue(entry: Entry): void {
    if (entry.of.waiting >= MOST_WAITING) return;
    entry.of.waiting++;
    entries.push(entry);
    gather();
  }

  function gather(): void {
    if (isGathering || round !== undefined || entries.length === 0) return;
    isGathering = true;
    clock.setTimeout(() => {
      isGathering = false;
      void writeNow();
    }, GATHER_MS);
  }

  function writeNow(): Promise<void> {
    if (round === undefined && entries.length > 0) {
      const taken = entries.slice(0, MOST_TOGETHER);
      entries = entries.slice(MOST_TOGETHER);
      round = write(taken).finally(() => {
        for (const { of } of taken) of.waiting--;
        round = undefined;
        gather();
      });
    }
    return round ?? Promise.resolve();
  }

  async function write(taken: readonly Entry[]): Promise<void> {
    const said = taken.filter((entry): entry is Said => entry.kind === 'said');
    await together(said, async (some) => {
      const turns = some.map(({ of: { callId }, turn }): TurnOfCall => ({ callId, turn }));
      const numbers = await addTurns(sql, turns);
      for (const [at, { of, turn }] of some.entries()) {
        const seq = numbers[at];
        remember(of, turn.itemId, seq);
        if (seq !== undefined) written?.(of.callId, seq, turn);
      }
    });
    await together(heardOf(taken), (some) => noteHeard(sql, some));
  }

  /**
   * Writes all items at once, or one by one when the database refuses a value, so that only the refused turn is lost. After any
   * other failure the items may have been written, and are not written again.
   */
  async function together<T>(
    items: readonly T[],
    work: (some: readonly T[]) => Promise<void>,
  ): Promise<void> {
    if (items.length === 0) return;
    try {
      await work(items);
    } catch (err) {
      if (items.length > 1 && refusesValue(err)) {
        for (const item of items) await together([item], work);
      } else {
        log.warn({ err, turns: items.length }, 'turns of calls were not written');
      }
    }
  }

  return {
    of(callId) {
      const of: Book = { callId, waiting: 0, written: new Map() };
      return {
        add: (turn) => enqueue({ kind: 'said', turn, of }),
        heard: (itemId, heard) => enqueue({ kind: 'heard', itemId, heard, of }),
        async flushed() {
          while (of.waiting > 0) await writeNow();
        },
      };
    },
  };
}

/** Returns the latest report of each turn on the part that was heard. */
function heardOf(entries: readonly Entry[]): HeardOfTurn[] {
  const noted = new Map<string, HeardOfTurn>();
  for (const entry of entries) {
    if (entry.kind !== 'heard') continue;
    const { callId, written } = entry.of;
    const seq = written.get(entry.itemId);
    if (seq !== undefined) noted.set(`${callId} ${seq}`, { callId, seq, heard: entry.heard });
  }
  return [...noted.values()];
}

function remember({ written }: Book, itemId: string | undefined, seq: number | undefined): void {
  if (itemId === undefined || seq === undefined) return;
  written.set(itemId, seq);
  const oldest = written.keys().next().value;
  if (written.size > MOST_OPEN && oldest !== undefined) written.delete(oldest);
}
