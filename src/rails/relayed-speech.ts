import { audioTypeOf } from './audio-type.ts';
import { StreamBroken } from './event-reader.ts';
import type { OpenedAnswer } from './open-answer.ts';
import { SpeechEventReader } from './read-speech-events.ts';
import type { SpeechFormat, SpeechSound } from './speech-rail.ts';

/** Reads an opened answer as sound: a file as it comes, or one in events. */
export class RelayedSpeech implements SpeechSound {
  readonly #answer: OpenedAnswer;
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #events: SpeechEventReader | undefined;
  #first: Uint8Array | undefined;
  #isDone = false;

  constructor(answer: OpenedAnswer, inEvents: boolean) {
    this.#answer = answer;
    this.#source = answer.body[Symbol.asyncIterator]();
    this.#events = inEvents ? new SpeechEventReader() : undefined;
  }

  /** Resolves to the type of the sound when its first bytes are there. One that has none was not delivered. */
  async begin(said: string, format: SpeechFormat): Promise<string> {
    const first = await this.next();
    if (first === undefined) throw new StreamBroken('there is no sound in it');
    this.#first = first;
    return audioTypeOf(first, this.#events === undefined ? said : '', format);
  }

  async next(): Promise<Uint8Array | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    while (!this.#isDone) {
      const chunk = await this.#read();
      if (chunk === undefined) return undefined;
      const sound = this.#events === undefined ? chunk : this.#take(this.#events, chunk);
      if (sound.length > 0) return sound;
    }
    return undefined;
  }

  usage() {
    return this.#events?.usage ?? null;
  }

  stop(): void {
    this.#isDone = true;
    this.#answer.stop();
  }

  async #read(): Promise<Uint8Array | undefined> {
    let next: IteratorResult<Uint8Array>;
    try {
      next = await this.#source.next();
    } catch (error) {
      this.#isDone = true;
      throw new StreamBroken('it broke off', { cause: error });
    }
    if (next.done !== true) return next.value;
    this.#isDone = true;
    if (this.#events?.isDone === false) throw new StreamBroken('it ended before its end');
    return undefined;
  }

  #take(events: SpeechEventReader, chunk: Uint8Array): Uint8Array {
    try {
      const sound = events.push(chunk);
      // The connection is left to end by itself: it may serve another.
      this.#isDone = events.isDone;
      return sound;
    } catch (error) {
      this.stop();
      throw error instanceof StreamBroken
        ? error
        : new StreamBroken('an event is too large', { cause: error });
    }
  }
}
