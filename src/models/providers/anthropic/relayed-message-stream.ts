import { isObject, type Json } from '../../../kernel/json.ts';
import type { ChatStream } from '../chat-rail.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { StreamBroken } from '../openai/answer-reader.ts';
import { readData } from '../openai/chat-tap.ts';
import { EventReader } from '../openai/event-reader.ts';
import { renameModel } from '../openai/rename-model.ts';
import { reportedError } from './broken-message.ts';
import { plainDeltaChars } from './plain-delta.ts';
import { member, textMember } from './read-json.ts';
import { StreamedUsage } from './streamed-usage.ts';

/** Valid kinds of an event. The kind is written into a line of its own. */
const KIND = /^[a-z_]{1,64}$/;

/** Depth for `renameModel` that selects the model within the member `message` of an event. */
const WITHIN_ONE = -1;

/**
 * Relays an opened answer of the Messages dialect: the data of each event is sent unchanged except for the model's name, under
 * the event name that its data has. Unknown kinds of events are relayed as well, as the dialect requires of its readers
 * (https://platform.claude.com/docs/en/build-with-claude/streaming).
 */
export class RelayedMessageStream implements ChatStream {
  readonly #events: EventReader;
  readonly #usage = new StreamedUsage();
  readonly #servedAs: string | undefined;
  #first: Uint8Array | undefined;
  #hasBegun = false;
  /** True when the upstream has sent the reason why the message ends, so that no content is missing. */
  #hasReason = false;
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
        if (!this.#hasReason) throw new StreamBroken('it ended before its end');
        return undefined;
      }
      const relayed = await this.#relay(events);
      if (relayed.length > 0) return relayed;
    }
  }

  metered() {
    return this.#usage.metered();
  }

  stop(): void {
    this.#events.stop();
  }

  /** Returns the bytes of the events to relay. When an event breaks the stream, those before it are still relayed. */
  async #relay(events: readonly Buffer[]): Promise<Buffer> {
    const relayed: Buffer[] = [];
    for (const event of events) {
      const chars = this.#hasBegun ? plainDeltaChars(event) : undefined;
      if (chars !== undefined) {
        this.#usage.wrote(chars);
        relayed.push(DELTA_NAME, event);
        continue;
      }
      const fate = event[0] === COMMENT ? 'comment' : this.#look(await readData(event));
      if (fate === 'over') {
        this.#events.finish();
        break;
      }
      if (fate instanceof StreamBroken) {
        this.#broken = fate;
        this.stop();
        break;
      }
      // Events before the first content are dropped, because another source may still be attempted then.
      if (!this.#hasBegun) continue;
      if (fate === 'comment') relayed.push(event);
      else relayed.push(Buffer.from(`event: ${fate.kind}\n`), this.#named(event, fate.kind));
    }
    return Buffer.concat(relayed);
  }

  #named(event: Buffer, kind: string): Buffer {
    return kind === 'message_start' ? renameModel(event, this.#servedAs, WITHIN_ONE) : event;
  }

  /** Returns the kind of an event to relay, `over` at the end of the stream, or the error that breaks it. */
  #look(data: unknown): { readonly kind: string } | 'over' | StreamBroken {
    if (!isObject(data)) return new StreamBroken('an event is not a JSON object');
    const kind = KIND.exec(textMember(data, 'type'))?.[0];
    if (kind === undefined) return new StreamBroken('an event has no type');
    if (kind === 'error') return reportedError(data.error);
    if (kind === 'message_start') {
      if (this.#hasBegun) return new StreamBroken('it began twice');
      this.#hasBegun = true;
      const message = member(data, 'message');
      this.#usage.beganBy(message.model);
      this.#usage.count(message.usage);
    } else if (!this.#hasBegun) {
      if (kind !== 'ping') return new StreamBroken('it did not begin with a message');
    } else if (kind === 'message_stop') {
      return this.#hasReason ? 'over' : new StreamBroken('it ended before its end');
    } else if (kind === 'message_delta') {
      this.#usage.countEnd(data.usage);
      const { stop_reason: reason } = member(data, 'delta');
      this.#usage.endedFor(reason);
      this.#hasReason ||= typeof reason === 'string';
    } else {
      this.#usage.wrote(writtenIn(data));
    }
    return { kind };
  }
}

const COMMENT = 0x3a;
const DELTA_NAME = Buffer.from('event: content_block_delta\n');

/** Number of characters that an event adds to text, thoughts and arguments. */
function writtenIn(event: Json): number {
  const delta = member(event, 'delta');
  const block = member(event, 'content_block');
  return (
    textMember(delta, 'text').length +
    textMember(delta, 'thinking').length +
    textMember(delta, 'partial_json').length +
    textMember(block, 'text').length +
    textMember(block, 'name').length
  );
}
