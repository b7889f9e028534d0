import type { ChatStream } from '../chat-rail.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { StreamBroken } from '../openai/answer-reader.ts';
import { readData } from '../openai/chat-tap.ts';
import { EventReader } from '../openai/event-reader.ts';
import { renameModel } from '../openai/rename-model.ts';
import { MessageTap } from './message-tap.ts';
import { readPlainDelta } from './plain-delta.ts';

/** Depth for `renameModel` that selects the model within the member `message` of an event. */
const WITHIN_ONE = -1;

/**
 * Relays an opened answer of the Messages dialect: the data of each event is sent unchanged except for the model's name, under
 * the event name that its data has. Unknown kinds of events are relayed as well, as the dialect requires of its readers
 * (https://platform.claude.com/docs/en/build-with-claude/streaming).
 */
export class RelayedMessageStream implements ChatStream {
  readonly #events: EventReader;
  readonly #tap = new MessageTap();
  readonly #servedAs: string | undefined;
  #first: Uint8Array | undefined;
  /** Error that `next` throws after the events before it were read. */
  #broken: StreamBroken | undefined;

  constructor(answer: OpenedAnswer, servedAs: string | undefined) {
    this.#events = new EventReader(answer);
    this.#servedAs = servedAs;
  }

  /**
   * Resolves when the message has begun. Throws StreamBroken when the upstream breaks before that and has delivered nothing.
   */
  async begin(): Promise<void> {
    this.#first = await this.next();
    if (this.#first === undefined) throw new StreamBroken('it ended before its end');
  }

  async next(): Promise<Uint8Array | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    for (;;) {
      if (this.#broken !== undefined) throw this.#broken;
      if (this.#events.isOver) return undefined;
      const events = await this.#events.read();
      if (events === undefined) {
        this.#tap.requireReason();
        return undefined;
      }
      const relayed = await this.#relay(events);
      if (relayed.length > 0) return relayed;
    }
  }

  metered() {
    return this.#tap.usage.metered();
  }

  stop(): void {
    this.#events.stop();
  }

  /** Returns the bytes of the events to relay. When an event breaks the stream, those before it are still relayed. */
  async #relay(events: readonly Buffer[]): Promise<Buffer> {
    const relayed: Buffer[] = [];
    try {
      for (const event of events) {
        const delta = this.#tap.hasBegun ? readPlainDelta(event) : undefined;
        if (delta !== undefined) {
          this.#tap.usage.wrote(delta.chars);
          relayed.push(DELTA_NAME, event);
        } else if (event[0] === COMMENT) {
          if (this.#tap.hasBegun) relayed.push(event);
        } else if (!this.#take(await readData(event), event, relayed)) {
          this.#events.finish();
          break;
        }
      }
    } catch (cause) {
      this.#broken = cause as StreamBroken;
      this.stop();
    }
    return Buffer.concat(relayed);
  }

  /** Adds the bytes of an event to `relayed`. Returns false at the end of the stream. */
  #take(data: unknown, event: Buffer, relayed: Buffer[]): boolean {
    const looked = this.#tap.look(data);
    if (looked === undefined) return false;
    const { type } = looked;
    // Events before the first content are dropped, because another source may still be attempted then.
    if (!this.#tap.hasBegun) return true;
    const isStart = type === 'message_start';
    const named = isStart ? renameModel(event, this.#servedAs, WITHIN_ONE) : event;
    relayed.push(Buffer.from(`event: ${type}\n`), named);
    return true;
  }
}

const COMMENT = 0x3a;
const DELTA_NAME = Buffer.from('event: content_block_delta\n');
