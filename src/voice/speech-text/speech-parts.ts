import { ENGINE_LIMITS } from '../../engines/limits.ts';
import { SpeechCutter } from '../../engines/tts/split-speech.ts';
import { TextForSpeech } from './text-for-speech.ts';

/** A part of an answer, in its written and its spoken form. `spoken` is empty when nothing of it is spoken. */
export type Passage = { readonly text: string; readonly spoken: string };

const BOUNDS = {
  firstChars: ENGINE_LIMITS.speech.firstChunkChars,
  chars: ENGINE_LIMITS.speech.chunkChars,
  keepsLinks: true,
};

/** Cuts one answer, while it is being written, into the parts that are spoken one after another. */
export class SpeechParts {
  readonly #cutter = new SpeechCutter(BOUNDS);
  readonly #forSpeech: TextForSpeech | undefined;

  /**
   * `isForReading` is true when the answer was written to be read, so that it is spoken as people read it aloud, in this
   * language.
   */
  constructor({ isForReading, language }: { isForReading: boolean; language: string | null }) {
    this.#forSpeech = isForReading ? new TextForSpeech(language) : undefined;
  }

  /** Adds text of the answer. Returns the parts that can be spoken now. */
  push(text: string): Passage[] {
    return this.#passages(this.#cutter.push(text));
  }

  /** Nothing has followed for a while: a sentence that is whole by now, and with `isLong` all that is left. */
  pause(isLong: boolean): Passage[] {
    return this.#passages(isLong ? this.#cutter.end() : this.#cutter.pause());
  }

  /** Returns the remaining passages of the answer. */
  end(): Passage[] {
    return this.#passages(this.#cutter.end());
  }

  #passages(parts: readonly string[]): Passage[] {
    return parts.map((text) => ({ text, spoken: this.#forSpeech?.read(text) ?? text }));
  }
}
