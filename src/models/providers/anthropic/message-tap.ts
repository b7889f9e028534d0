import { isObject, type Json } from '../../../kernel/json.ts';
import { StreamBroken } from '../openai/answer-reader.ts';
import { reportedError } from './broken-message.ts';
import { member, textMember } from './read-json.ts';
import { StreamedUsage } from './streamed-usage.ts';

/** Valid types of an event. The type is written into a line of its own. */
const TYPE = /^[\w.-]{1,64}$/;
/** Events that only a message has. */
const OF_A_MESSAGE = /^(?:content_block|message)_/;

/** Type of an event, and its data. */
type MessageEvent = { readonly type: string; readonly data: Json };

/** Checks the order of the events of a Messages stream, and meters them. */
export class MessageTap {
  readonly usage = new StreamedUsage();
  #hasBegun = false;
  #hasReason = false;

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** True when the upstream has sent the reason why the message ends, so that no content is missing. */
  get hasReason(): boolean {
    return this.#hasReason;
  }

  /** Returns an event by its parsed data. Undefined at the end of the stream. Throws StreamBroken at an event that breaks it. */
  look(data: unknown): MessageEvent | undefined {
    if (!isObject(data)) throw new StreamBroken('an event is not a JSON object');
    const type = TYPE.exec(textMember(data, 'type'))?.[0];
    if (type === undefined) throw new StreamBroken('an event has no type');
    if (type === 'error') throw reportedError(data.error);
    if (type === 'message_start') {
      this.#begin(member(data, 'message'));
    } else if (!this.#hasBegun) {
      if (OF_A_MESSAGE.test(type)) throw new StreamBroken('it did not begin with a message');
    } else if (type === 'message_stop') {
      this.requireReason();
      return undefined;
    } else if (type === 'message_delta') {
      this.usage.countEnd(data.usage);
      const { stop_reason: reason } = member(data, 'delta');
      this.usage.endedFor(reason);
      this.#hasReason ||= typeof reason === 'string';
    } else {
      this.usage.wrote(writtenIn(data));
    }
    return { type, data };
  }

  /** Throws when the stream ends without the reason why. */
  requireReason(): void {
    if (!this.#hasReason) throw new StreamBroken('it ended before its end');
  }

  #begin({ model, usage }: Json): void {
    if (this.#hasBegun) throw new StreamBroken('it began twice');
    this.#hasBegun = true;
    this.usage.beganBy(model);
    this.usage.count(usage);
  }
}

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
