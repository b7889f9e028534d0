import { isObject } from '../../../kernel/json.ts';
import type { ChatStream } from '../chat-rail.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { ReportedError } from '../reported-error.ts';
import { StreamBroken } from './answer-reader.ts';
import { ChatTap, readData } from './chat-tap.ts';
import { EventReader } from './event-reader.ts';
import { renameModel } from './rename-model.ts';
import { withoutNullUsage } from './stream/null-usage.ts';

const DATA = Buffer.from('data:');
const ERROR = Buffer.from('"error"');

/** Relays an opened answer as a chat stream. */
export class RelayedChat implements ChatStream {
  readonly #events: EventReader;
  readonly #tap: ChatTap;
  readonly #servedAs: string | undefined;
  readonly #wantsUsage: boolean;
  #first: Uint8Array | undefined;
  #hasBegun = false;

  constructor(
    answer: OpenedAnswer,
    {
      servedAs,
      wantsUsage,
    }: { readonly servedAs?: string | undefined; readonly wantsUsage: boolean },
  ) {
    this.#events = new EventReader(answer);
    this.#tap = new ChatTap(wantsUsage);
    this.#servedAs = servedAs;
    this.#wantsUsage = wantsUsage;
  }

  /**
   * Resolves when the first event has arrived. Throws when the upstream breaks before that, or begins with an error, and has
   * delivered nothing.
   */
  async begin(): Promise<void> {
    this.#first = await this.next();
  }

  async next(): Promise<Uint8Array | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    while (!this.#events.isOver) {
      const events = await this.#events.read();
      if (events === undefined) {
        // Some upstreams end without a terminator. A stream that has reported its usage is complete.
        if (this.#tap.usage === null) throw new StreamBroken('it ended before its end');
        return undefined;
      }
      const relayed: Buffer[] = [];
      for (const event of events) {
        if (!this.#hasBegun) await this.#requireNoError(event);
        const looked = this.#tap.look(event);
        // Short events, one for each token, are read without an await.
        const fate = typeof looked === 'string' ? looked : await looked;
        if (fate === 'done') {
          this.#events.finish();
          break;
        }
        if (fate !== 'relayed') continue;
        const asked = this.#wantsUsage ? event : withoutNullUsage(event);
        relayed.push(renameModel(asked, this.#servedAs));
      }
      if (relayed.length > 0) return relayed.length === 1 ? relayed[0] : Buffer.concat(relayed);
    }
    return undefined;
  }

  /**
   * Throws ReportedError when the stream begins with an error. Called up to the first event with data; events before it are
   * comments that keep the connection open.
   */
  async #requireNoError(event: Buffer): Promise<void> {
    this.#hasBegun = event.includes(DATA);
    if (!event.includes(ERROR)) return;
    const data = await readData(event);
    if (!isObject(data) || !isObject(data.error)) return;
    this.stop();
    throw new ReportedError(data.error);
  }

  metered() {
    const tap = this.#tap;
    return { usage: tap.usage, answerChars: tap.answerBytes, note: () => tap.note() };
  }

  stop(): void {
    this.#events.stop();
  }
}
