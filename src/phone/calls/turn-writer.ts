import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { SaidTurn } from '../records/said-turn.ts';
import { addTurn, noteHeard } from './turn-store.ts';

/** Turns that wait to be written; what comes beyond them is not remembered. */
const MOST_WAITING = 64;
/** Answers that can still be interrupted. */
const MOST_OPEN = 16;

export type TurnWriter = ReturnType<typeof createTurnWriter>;

/** Writes what is said in a call, in order and off its audio path. */
export function createTurnWriter({
  callId,
  log,
  sql,
}: {
  readonly callId: string;
  readonly log: Log;
  readonly sql: Sql;
}) {
  let tail: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  /** The numbers of the latest answers, by their item. */
  const written = new Map<string, number>();

  function write(work: () => Promise<unknown>): void {
    if (waiting >= MOST_WAITING) return;
    waiting++;
    tail = tail
      .then(work)
      .catch((err: unknown) => log.warn({ err, callId }, 'a turn of a call was not written'))
      .finally(() => {
        waiting--;
      });
  }

  async function add(turn: SaidTurn): Promise<void> {
    const seq = await addTurn(sql, callId, turn);
    if (turn.itemId === undefined) return;
    written.set(turn.itemId, seq);
    const oldest = written.keys().next().value;
    if (written.size > MOST_OPEN && oldest !== undefined) written.delete(oldest);
  }

  return {
    add: (turn: SaidTurn): void => write(() => add(turn)),
    /** An answer was interrupted: so much of it was heard. */
    heard(itemId: string, heard: string): void {
      write(async () => {
        const seq = written.get(itemId);
        if (seq !== undefined) await noteHeard(sql, callId, seq, heard);
      });
    },
    /** Resolves when everything said by now is written, or could not be. */
    flushed: async (): Promise<void> => {
      await tail;
    },
  };
}
