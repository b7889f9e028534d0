import { audioTypeOf } from '../audio-type.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import type { SpeechFormat, SpeechSound } from '../speech-rail.ts';
import { AnswerReader, StreamBroken } from './answer-reader.ts';
import { SpeechEventReader } from './read-speech-events.ts';

/** Relays an opened answer as audio: the bytes of a file, or a file in events. */
export class RelayedSpeech implements SpeechSound {
  readonly #source: AnswerReader | SpeechEventReader;
  #first: Uint8Array | undefined;

  constructor(answer: OpenedAnswer, inEvents: boolean) {
    this.#source = inEvents ? new SpeechEventReader(answer) : new AnswerReader(answer);
  }

  /** Resolves to the media type of the audio when its first bytes have come. Throws StreamBroken without any audio. */
  async begin(said: string, format: SpeechFormat): Promise<string> {
    const first = await this.next();
    if (first === undefined) throw new StreamBroken('there is no sound in it');
    this.#first = first;
    return audioTypeOf(first, this.#source instanceof AnswerReader ? said : '', format);
  }

  async next(): Promise<Uint8Array | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    while (!this.#source.isOver) {
      const sound = await this.#source.read();
      if (sound === undefined || sound.length > 0) return sound;
    }
    return undefined;
  }

  usage() {
    return this.#source instanceof SpeechEventReader ? this.#source.usage : null;
  }

  stop(): void {
    this.#source.stop();
  }
}
