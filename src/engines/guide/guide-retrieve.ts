import type { CorpusEntry } from './guide-corpus.ts';
import { PLAIN_WORDS } from './guide-tool.ts';
import { stem, wordsOf } from './guide-words.ts';

/** Turns texts into unit vectors, one each. */
export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

type Ask = {
  readonly entry: CorpusEntry;
  readonly words: ReadonlySet<string>;
  vector: Float32Array | undefined;
};

/** What counts as an answer, with the meaning of the sentences at hand and by their words alone. */
const ENOUGH = { meaning: 0.44, words: 0.5 } as const;
const WORD_SHARE = 0.35;

/** Finds what the corpus says to a question, or nothing when nothing is near enough. */
export interface Retriever {
  find(question: string): Promise<CorpusEntry | undefined>;
}

/**
 * Compares meanings where an embedding engine is there and words in any case. The corpus is embedded
 * once, at the first question that needs it.
 */
export function createRetriever(corpus: readonly CorpusEntry[], embed?: Embed): Retriever {
  const asks: Ask[] = corpus.flatMap((entry) =>
    entry.asks.map((text) => ({ entry, words: content(text), vector: undefined })),
  );
  const rarity = weigh(asks);
  let embedded: Promise<void> | undefined;

  async function embedCorpus(engine: Embed) {
    const vectors = await engine(corpus.flatMap((entry) => entry.asks));
    for (const [index, ask] of asks.entries()) ask.vector = vectors[index];
  }

  /** The meaning of a question; nothing where the engine is not there or fails, and words must do. */
  async function meaningOf(question: string): Promise<Float32Array | undefined> {
    if (embed === undefined) return undefined;
    try {
      embedded ??= embedCorpus(embed);
      await embedded;
      return (await embed([question]))[0];
    } catch {
      return undefined;
    }
  }

  return {
    async find(question) {
      const asked = content(question);
      const vector = await meaningOf(question);
      let best: { readonly entry: CorpusEntry; readonly score: number } | undefined;
      for (const ask of asks) {
        const byWords = overlap(asked, ask.words, rarity);
        const score =
          vector === undefined || ask.vector === undefined
            ? byWords
            : dot(vector, ask.vector) * (1 - WORD_SHARE) + byWords * WORD_SHARE;
        if (best === undefined || score > best.score) best = { entry: ask.entry, score };
      }
      const enough = vector === undefined ? ENOUGH.words : ENOUGH.meaning;
      return best !== undefined && best.score >= enough ? best.entry : undefined;
    },
  };
}

const content = (text: string): ReadonlySet<string> => {
  const stems = wordsOf(text).map(stem);
  const subjects = stems.filter((word) => !PLAIN_WORDS.has(word));
  // `who are you` is made of plain words alone.
  return new Set(subjects.length > 0 ? subjects : stems);
};

/** A word that few questions have says more than one that many have. */
function weigh(asks: readonly Ask[]): (word: string) => number {
  const count = new Map<string, number>();
  for (const { words } of asks)
    for (const word of words) count.set(word, (count.get(word) ?? 0) + 1);
  return (word) => Math.log(1 + asks.length / (1 + (count.get(word) ?? 0)));
}

/** The share of the weight of both questions that lies in words they have in common. */
function overlap(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
  rarity: (word: string) => number,
): number {
  let common = 0;
  let all = 0;
  for (const word of a) {
    all += rarity(word);
    if (b.has(word)) common += 2 * rarity(word);
  }
  for (const word of b) all += rarity(word);
  return all === 0 ? 0 : common / all;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
