import { requestErrors } from '../../../http/route/errors.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { phoneErrors } from '../../errors.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { encodeEvent, type FeedEvent, KEEP_ALIVE, type NumberedTurn } from './feed-event.ts';
import { FeedReader } from './feed-reader.ts';
import { type CallNow, findCallNow, findNumberedTurns, isKeyGood, isMember } from './feed-store.ts';

const { feed: BOUNDS } = PHONE_LIMITS;

/** A request to read the events of a call. */
export type FeedRequest = {
  readonly callId: string;
  readonly accountId: string;
  readonly via: 'agent' | 'developer';
  /** Id of the reader's key. Null: the reader is authenticated without a key. */
  readonly keyId: number | null;
  /** Wallet of the member of the account who reads. Null: an agent reads. */
  readonly wallet: string | null;
  /** The last turn that the reader has; 0: none. */
  readonly afterSeq: number;
};

type Reading = {
  readonly request: FeedRequest;
  readonly reader: FeedReader;
  /** The state that was last sent to the reader. */
  told: CallNow | undefined;
};

/** A call that is read at this process. */
type Watched = { readonly readings: Set<Reading>; polls: number };

type FeedDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly sql: Sql;
};

/**
 * Sends the events of calls to their readers at this process. Events of a call whose media is here are sent at once; the
 * state and the cost of all calls, and the turns of calls at other processes, are read from the database every `pollMs`.
 */
export class CallFeed {
  readonly #deps: FeedDeps;
  readonly #watched = new Map<string, Watched>();
  #readers = 0;
  #isClosed = false;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  /** Sends an event to the readers of a call. Costs one map look-up when the call has no reader. */
  tell(callId: string, event: FeedEvent): void {
    const watched = this.#watched.get(callId);
    if (watched === undefined) return;
    const encoded = encodeEvent(event);
    for (const { reader } of watched.readings) reader.push(encoded);
  }

  /** Sends a written turn of a call in this process to the readers of the call. */
  turnWritten(callId: string, turn: NumberedTurn): void {
    const watched = this.#watched.get(callId);
    if (watched !== undefined) turnTo(watched.readings, turn);
  }

  /** Begins a stream. Throws the refusal of one reader too many. */
  async open(request: FeedRequest): Promise<FeedReader> {
    if (this.#isClosed) throw requestErrors.draining();
    const { accountId, afterSeq, callId } = request;
    const watched = this.#watched.get(callId) ?? { readings: new Set(), polls: 0 };
    const ofAccount = [...this.#watched.values()]
      .flatMap(({ readings }) => [...readings])
      .filter((reading) => reading.request.accountId === accountId).length;
    if (watched.readings.size >= BOUNDS.perCall)
      throw phoneErrors.tooManyReaders(BOUNDS.perCall, 'call');
    if (ofAccount >= BOUNDS.perAccount) {
      throw phoneErrors.tooManyReaders(BOUNDS.perAccount, 'account');
    }
    if (this.#readers >= BOUNDS.readers) throw phoneErrors.tooManyReaders(BOUNDS.readers, 'server');
    const reader = new FeedReader(BOUNDS.bytes, () => this.#left(callId, reading));
    const reading: Reading = { request, reader, told: undefined };
    const isFirst = watched.readings.size === 0;
    watched.readings.add(reading);
    this.#watched.set(callId, watched);
    this.#readers++;
    try {
      const { sql } = this.#deps;
      const limit = PHONE_LIMITS.report.turns;
      const turns = await findNumberedTurns(sql, callId, { afterSeq, limit });
      for (const turn of turns) turnTo([reading], turn);
      const now = await findCallNow(sql, callId);
      if (now !== undefined) tellState(reading, now);
    } catch (error) {
      await reader.return();
      throw error;
    }
    if (isFirst) this.#pollLater(callId, watched);
    return reader;
  }

  /** Ends all streams: the process stops. */
  close(): void {
    this.#isClosed = true;
    for (const { readings } of this.#watched.values()) {
      for (const { reader } of readings) {
        reader.push(encodeEvent({ type: 'moved' }));
        reader.end();
      }
    }
  }

  #left(callId: string, reading: Reading): void {
    const watched = this.#watched.get(callId);
    if (watched?.readings.delete(reading) !== true) return;
    this.#readers--;
    if (watched.readings.size === 0) this.#watched.delete(callId);
  }

  #pollLater(callId: string, watched: Watched): void {
    this.#deps.clock.setTimeout(() => {
      if (this.#watched.get(callId) !== watched || this.#isClosed) return;
      this.#poll(callId, watched)
        .catch((err: unknown) =>
          this.#deps.log.warn({ err, callId }, 'a read call was not looked at'),
        )
        .finally(() => this.#pollLater(callId, watched));
    }, BOUNDS.pollMs);
  }

  async #poll(callId: string, watched: Watched): Promise<void> {
    const { sql } = this.#deps;
    const { readings } = watched;
    watched.polls++;
    if (watched.polls % BOUNDS.pollsPerCheck === 0) {
      await this.#endRevoked(readings);
      for (const { reader } of readings) if (reader.isEmpty) reader.push(KEEP_ALIVE);
    }
    const limit = BOUNDS.turnsPerPoll;
    const now = await findCallNow(sql, callId);
    const turns = await findNumberedTurns(sql, callId, { afterSeq: 0, limit });
    for (const turn of turns) turnTo(readings, turn);
    if (now === undefined) return;
    for (const reading of readings) tellState(reading, now);
  }

  async #endRevoked(readings: Iterable<Reading>): Promise<void> {
    for (const { reader, request } of readings) {
      if (!(await mayRead(this.#deps.sql, request))) reader.end();
    }
  }
}

/** Answers whether the key of a reader is not revoked, and its wallet is a member still. */
async function mayRead(sql: Sql, { accountId, keyId, via, wallet }: FeedRequest): Promise<boolean> {
  if (keyId !== null && !(await isKeyGood(sql, via, keyId))) return false;
  return wallet === null || isMember(sql, accountId, wallet);
}

/** Sends a turn once to each reader, also when it is written here and read from the database as well. */
function turnTo(readings: Iterable<Reading>, turn: NumberedTurn): void {
  const event = encodeEvent({ type: 'turn', ...turn });
  for (const { reader, request } of readings) {
    if (turn.seq > request.afterSeq && reader.takes(turn.seq)) reader.push(event);
  }
}

/** Sends a reader the changed cost and status. After the end of the call nothing follows. */
function tellState(reading: Reading, now: CallNow): void {
  const { reader, told } = reading;
  const { costRaw, endReason, status, terminal } = now;
  if (costRaw > (told?.costRaw ?? 0n)) {
    reader.push(encodeEvent({ type: 'cost', costRaw: `${costRaw}` }));
  }
  if (told?.status !== status || told.terminal !== terminal) {
    reader.push(encodeEvent({ type: 'status', status, terminal, endReason }));
  }
  reading.told = now;
  if (terminal) reader.end();
}
