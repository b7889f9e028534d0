import type { SpeakRequest, Tts, TtsPiece } from '../../../voice/session/voice-pipeline.ts';

type Pronunciation = { readonly word: string; readonly say: string };

/**
 * Returns a TTS that says whole words or phrases as other texts, ignoring case. Its pieces keep the original words for the
 * history and the transcript.
 */
export function pronouncedTts(tts: Tts, pronunciations: readonly Pronunciation[]): Tts {
  if (pronunciations.length === 0) return tts;
  const toSay = replacer(pronunciations.map(({ say, word }) => [word, say]));
  const toWrite = replacer(pronunciations.map(({ say, word }) => [say, word]));
  return new PronouncedTts(tts, toSay, toWrite);
}

class PronouncedTts implements Tts {
  readonly #tts: Tts;
  readonly #toSay: (text: string) => string;
  readonly #toWrite: (text: string) => string;

  constructor(tts: Tts, toSay: (text: string) => string, toWrite: (text: string) => string) {
    this.#tts = tts;
    this.#toSay = toSay;
    this.#toWrite = toWrite;
  }

  async *speak({ signal, speed, text, voice }: SpeakRequest): AsyncGenerator<TtsPiece> {
    const said = this.#toSay(text);
    const pieces = this.#tts.speak({ text: said, voice, speed, signal });
    for await (const piece of pieces) {
      const { pcm, sampleRateHz } = piece;
      yield said === text ? piece : { pcm, sampleRateHz, text: this.#toWrite(piece.text) };
    }
  }
}

/** Returns a function that replaces whole words; a longer word wins over its own beginning. */
function replacer(pairs: readonly (readonly [from: string, to: string])[]) {
  const byWord = new Map(pairs.map(([from, to]) => [from.toLowerCase(), to]));
  const words = [...byWord.keys()].sort((a, b) => b.length - a.length);
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'));
  const found = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  return (text: string): string =>
    text.replace(found, (word) => byWord.get(word.toLowerCase()) ?? word);
}
