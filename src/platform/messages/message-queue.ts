import { type Clock, soon } from '../../kernel/clock.ts';
import { MESSAGE_LIMITS } from './limits.ts';
import { MessageLane, type MessageSource } from './message-lane.ts';

/** Bytes of shared memory for messages that wait for a turn. A message that does not fit gets memory of its own. */
const MEMORY_BYTES = 256 * 1024;

/** Milliseconds that pass at most between two messages that the library hands on in one turn. */
const REST_MS = 0.5;

/** Processor time that a lane gets each round, while others wait as well. */
const SHARE_MS = 0.5;

const most = MESSAGE_LIMITS.waiting.all;

/**
 * Spreads the messages of all sockets, those of clients and those that this server opened, over turns of the event loop. The
 * library delivers all received messages in one turn, however long their handling takes. Messages more than `REST_MS` apart
 * count as of different turns: asking the event loop for the end of each turn would cost as much as a frame of sound. Waiting
 * messages are handled in rounds over their owners.
 */
export class MessageQueue {
  readonly #clock: Clock;
  /** The lanes of all owners with a socket. */
  readonly #lanes = new Map<MessageSource['owner'], MessageLane>();
  /** The lanes with waiting messages, in the order of their next turns. */
  readonly #busy = new Set<MessageLane>();
  #waiting = 0;
  #waitingBytes = 0;
  /** Memory for the copies of waiting messages. An array buffer for each message would cost as much as a frame of sound. */
  readonly #memory = new Uint8Array(MEMORY_BYTES);
  #keptBytes = 0;
  /**
   * Time used in the current turn, and end of the last handling. In one object, since private fields with fractions would be
   * allocated anew with every write (docs/decisions/0109).
   */
  readonly #turn = { usedMs: 0, endedMs: 0 };
  #isComing = false;
  /** True while too many messages wait. No socket is read then. */
  #isFull = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns true when a message may be handled at once: no message waits, and earlier messages have left time in this turn. */
  hasTime(nowMs: number): boolean {
    const turn = this.#turn;
    if (nowMs - turn.endedMs > REST_MS) turn.usedMs = 0;
    return this.#waiting === 0 && turn.usedMs < MESSAGE_LIMITS.msPerTurn;
  }

  /** Counts the time that handling a message took. Times are of the monotonic clock. */
  used(startedMs: number, endedMs: number): void {
    this.#turn.usedMs += endedMs - startedMs;
    this.#turn.endedMs = endedMs;
  }

  /** Adds `source` to the lane of its owner and returns the lane, in which its messages will wait. */
  join(source: MessageSource): MessageLane {
    const lane = this.#lanes.get(source.owner) ?? new MessageLane();
    this.#lanes.set(source.owner, lane);
    if (this.#isFull) lane.holdBack();
    lane.add(source);
    return lane;
  }

  /** Removes `source` from its lane. Messages of `source` that already wait are still handed to it. */
  leave(source: MessageSource): void {
    const lane = this.#lanes.get(source.owner);
    lane?.remove(source);
    if (lane?.isEmpty === true) this.#lanes.delete(source.owner);
  }

  /** Returns a copy of a message that will wait. The copy is valid until the message's turn is over. */
  keep(message: ArrayBuffer): Uint8Array {
    const { byteLength } = message;
    if (this.#keptBytes + byteLength > MEMORY_BYTES) return new Uint8Array(message.slice(0));
    const kept = this.#memory.subarray(this.#keptBytes, this.#keptBytes + byteLength);
    kept.set(new Uint8Array(message));
    this.#keptBytes += byteLength;
    return kept;
  }

  /** Hands a message to its source in a later turn, behind all earlier ones of the same owner. */
  wait(source: MessageSource, bytes: Uint8Array, isBinary: boolean): void {
    const lane = this.#lanes.get(source.owner);
    if (lane === undefined) return;
    lane.push({ source, bytes, isBinary });
    this.#busy.add(lane);
    this.#waiting++;
    this.#waitingBytes += bytes.byteLength;
    if (this.#waiting > most.messages || this.#waitingBytes > most.bytes) this.#holdBack();
    this.#nextTurn();
  }

  #nextTurn(): void {
    if (this.#isComing) return;
    this.#isComing = true;
    soon(() => this.#serve());
  }

  #serve(): void {
    this.#isComing = false;
    const startedMs = this.#clock.monotonicMs();
    this.#turn.usedMs = 0;
    for (let nowMs = startedMs; nowMs - startedMs < MESSAGE_LIMITS.msPerTurn; ) {
      const lane = this.#nextLane();
      if (lane === undefined) break;
      this.#handleOne(lane);
      const endedMs = this.#clock.monotonicMs();
      lane.owedMs += endedMs - nowMs;
      nowMs = endedMs;
    }
    this.#letGo();
    if (this.#waiting > 0) {
      this.#nextTurn();
      return;
    }
    this.#keptBytes = 0;
    // The library hands on the next messages in a later turn.
    this.#turn.usedMs = 0;
  }

  /**
   * Returns the next lane that is within its share of the time. Each lane that is passed over gets its share for the round.
   * Undefined when no lane has waiting messages.
   */
  #nextLane(): MessageLane | undefined {
    for (const lane of this.#busy) {
      if (lane.owedMs <= SHARE_MS || this.#busy.size === 1) return lane;
      lane.owedMs -= SHARE_MS;
      this.#busy.delete(lane);
      this.#busy.add(lane);
    }
    return undefined;
  }

  #handleOne(lane: MessageLane): void {
    const message = lane.shift();
    this.#busy.delete(lane);
    if (message === undefined) return;
    const { bytes, isBinary, source } = message;
    if (lane.waiting > 0) this.#busy.add(lane);
    else if (lane.isEmpty) this.#lanes.delete(source.owner);
    this.#waiting--;
    this.#waitingBytes -= bytes.byteLength;
    source.waited(bytes, isBinary);
    if (!this.#isFull) lane.letGo();
  }

  #holdBack(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    for (const lane of this.#lanes.values()) lane.holdBack();
  }

  #letGo(): void {
    const isHalf = this.#waiting <= most.messages / 2 && this.#waitingBytes <= most.bytes / 2;
    if (!this.#isFull || !isHalf) return;
    this.#isFull = false;
    for (const lane of this.#lanes.values()) lane.letGo();
  }
}
