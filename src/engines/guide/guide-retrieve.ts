import { stem, wordsOf } from '../text/words.ts';
import type { CorpusEntry } from './guide-corpus.ts';
import { PLAIN_WORDS } from './guide-tool.ts';

/** Returns one unit vector for each text. */
export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** Least score of an answer: with the embedding engine (`meaning`), and by words alone. */
const ENOUGH = { meaning: 0.44, words: 0.5 } as const;
const WORD_SHARE = 0.35;

/** Finds the corpus's answer to a question, or nothing when no entry is similar enough. */
export interface Retriever {
  find(question: string): Promise<CorpusEntry | undefined>;
}

/**
 * Creates a retriever that compares words and, with `embed`, also meanings. It embeds the corpus once, at the first question
 * that needs embeddings.
 */
export function createRetriever(corpus: readonly CorpusEntry[], embed?: Embed): Retriever {
  const texts = corpus.flatMap(({ asks }) => asks);
  const asks = corpus.flatMap((entry) =>
    entry.asks.map((text) => ({ entry, words: content(text) })),
  );
  const weight = weighing(asks.map(({ words }) => words));
  let embedded: Promise<readonly Float32Array[]> | undefined;

  /** Returns how near a question is to each ask in meaning; undefined without the engine or when it fails. */
  async function nearness(question: string): Promise<readonly number[] | undefined> {
    try {
      embedded ??= embed?.(texts);
      const vectors = await embedded;
      const asked = (await embed?.([question]))?.[0];
      return asked && vectors?.map((vector) => dot(asked, vector));
    } catch {
      return undefined;
    }
  }

  return {
    async find(question) {
      const asked = content(question);
      const near = await nearness(question);
      const score = (words: ReadonlySet<string>, at: number) => {
        const common = new Set([...asked].filter((word) => words.has(word)));
        const all = weight(asked) + weight(words);
        const byWords = all === 0 ? 0 : (2 * weight(common)) / all;
        return near === undefined
          ? byWords
          : (near[at] ?? 0) * (1 - WORD_SHARE) + byWords * WORD_SHARE;
      };
      const scores = asks.map(({ words }, at) => score(words, at));
      const best = Math.max(...scores);
      const enough = near === undefined ? ENOUGH.words : ENOUGH.meaning;
      return best >= enough ? asks[scores.indexOf(best)]?.entry : undefined;
    },
  };
}

const content = (text: string): ReadonlySet<string> => {
  const stems = wordsOf(text).map(stem);
  const subjects = stems.filter((word) => !PLAIN_WORDS.has(word));
  // A question such as `who are you` consists of plain words only.
  return new Set(subjects.length > 0 ? subjects : stems);
};

/** Returns a function that sums the weights of words. A word that occurs in few questions weighs more than a common word. */
function weighing(all: readonly ReadonlySet<string>[]): (words: ReadonlySet<string>) => number {
  const count = new Map<string, number>();
  for (const word of all.flatMap((words) => [...words]))
    count.set(word, (count.get(word) ?? 0) + 1);
  const rarity = (word: string) => Math.log(1 + all.length / (1 + (count.get(word) ?? 0)));
  return (words) => [...words].reduce((sum, word) => sum + rarity(word), 0);
}

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
