import { SPEECH_LIMITS } from '../../../models/speech/limits.ts';
import { codePointsOf } from '../../../models/speech/speech-request.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';
import type { Sentence } from './speak-dialect.ts';

/** Place of a sentence in the text of its turn, and in milliseconds of the session's sound. */
type Span = {
  readonly from: number;
  readonly to: number;
  readonly startMs: number;
  endMs: number;
  isWhole: boolean;
};

const MS_PER_CHARACTER = 1_000 / SPEECH_LIMITS.textBytesPerSecond;

const WORDS = new Intl.Segmenter('en', { granularity: 'word' });

/** One answer of a voice agent: its texts up to a flush, their charges, and the position of each sentence in the audio. */
export class SpeechTurn {
  readonly id: string;
  isFlushed = false;
  #text = '';
  #inputCharacters = 0;
  #billedCharacters = 0;
  #chargedRaw = 0n;
  #soundMs = 0;
  readonly #spans: Span[] = [];

  constructor(id: string) {
    this.id = id;
  }

  get textLength(): number {
    return this.#text.length;
  }

  /** True once the session has begun a sentence of the turn. Blanks and marks alone make none. */
  get hasSentences(): boolean {
    return this.#spans.length > 0;
  }

  /** End of the turn's sound, in milliseconds of the session's sound. */
  get endMs(): number {
    return this.#spans.at(-1)?.endMs ?? 0;
  }

  /** Returns true when the text fits: a turn keeps its whole text, at most `DEEPGRAM_LIMITS.speak.turnChars` characters. */
  hasRoom(text: string): boolean {
    return this.#text.length + text.length <= DEEPGRAM_LIMITS.speak.turnChars;
  }

  /** Adds a text to the turn. Returns the number of characters (code points) added. */
  add(text: string): number {
    const characters = codePointsOf(text);
    this.#text += text;
    this.#inputCharacters += characters;
    return characters;
  }

  /** Begins a sentence of the text, whose audio starts at `startMs` of the session's audio. */
  begin(sentence: string, startMs: number): Omit<Sentence, 'sent'> & { sounded(ms: number): void } {
    // Only blanks and marks lie between two sentences.
    const from = this.#text.indexOf(sentence, this.#spans.at(-1)?.to ?? 0);
    const to = from + sentence.length;
    const span: Span = { from, to, startMs, endMs: startMs, isWhole: false };
    this.#spans.push(span);
    return {
      bought: (characters, chargedRaw) => {
        this.#billedCharacters += characters;
        this.#chargedRaw += chargedRaw;
      },
      sounded: (ms) => {
        span.endMs += ms;
        this.#soundMs += ms;
      },
      ended() {
        span.isWhole = true;
      },
    };
  }

  /**
   * Splits the text into the words that the client had heard by `playedMs`, and the remaining text. Assumes that each character
   * of a sentence takes the same time.
   */
  splitAt(playedMs: number): { readonly text_spoken: string; readonly text_remaining: string } {
    const span = this.#spans.findLast(({ startMs }) => startMs < playedMs);
    const cut = span === undefined ? 0 : this.#heardOf(span, playedMs);
    return { text_spoken: this.#text.slice(0, cut), text_remaining: this.#text.slice(cut) };
  }

  /** Returns the protocol's report of a turn, with its cost in raw USDC. Controls in a text are spoken as text. */
  report() {
    return {
      speech_id: this.id,
      audio_duration_ms: Math.round(this.#soundMs),
      input_character_count: this.#inputCharacters,
      billable_character_count: this.#billedCharacters,
      controls_applied: { pronunciations_applied: 0, breaks_applied: 0, pronunciation_warnings: 0 },
      cost_usdc: this.#chargedRaw.toString(),
    };
  }

  #heardOf({ from, to, startMs, endMs, isWhole }: Span, playedMs: number): number {
    const sentMs = endMs - startMs;
    // Deepgram does not report how long the current sentence will be, so its length is estimated from its characters.
    const lastsMs = isWhole ? sentMs : Math.max(sentMs, (to - from) * MS_PER_CHARACTER);
    const heard = Math.floor(((to - from) * (playedMs - startMs)) / lastsMs);
    if (heard >= to - from) return to;
    return from + (WORDS.segment(this.#text.slice(from, to)).containing(heard)?.index ?? 0);
  }
}
