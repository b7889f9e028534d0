/** Keeps the `size` best of the offered rows: the highest scores, and of equal scores the lowest ids. */
export class Best {
  readonly #size: number;
  /** Scores of a heap with the worst score on top. */
  readonly #scores: number[] = [];
  readonly #ids: number[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** Returns the lowest score that can still be kept. */
  get least(): number {
    return this.#scores.length < this.#size
      ? Number.NEGATIVE_INFINITY
      : (this.#scores[0] ?? Number.NEGATIVE_INFINITY);
  }

  offer(score: number, id: number): void {
    if (this.#scores.length < this.#size) {
      this.#scores.push(score);
      this.#ids.push(id);
      this.#rise(this.#scores.length - 1);
    } else if (isWorse(this.#scores[0] ?? 0, this.#ids[0] ?? 0, score, id)) {
      this.#scores[0] = score;
      this.#ids[0] = id;
      this.#sink();
    }
  }

  /** Returns the kept rows, best first. */
  sorted(): { readonly id: number; readonly score: number }[] {
    return this.#scores
      .map((score, i) => ({ id: this.#ids[i] ?? 0, score }))
      .sort((a, b) => b.score - a.score || a.id - b.id);
  }

  #isWorse(a: number, b: number): boolean {
    const scores = this.#scores;
    return isWorse(scores[a] ?? 0, this.#ids[a] ?? 0, scores[b] ?? 0, this.#ids[b] ?? 0);
  }

  #swap(a: number, b: number): void {
    for (const list of [this.#scores, this.#ids]) {
      const kept = list[a] ?? 0;
      list[a] = list[b] ?? 0;
      list[b] = kept;
    }
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      if (left >= this.#scores.length) return;
      const worse = right < this.#scores.length && this.#isWorse(right, left) ? right : left;
      if (!this.#isWorse(worse, at)) return;
      this.#swap(worse, at);
      at = worse;
    }
  }
}

const isWorse = (score: number, id: number, thanScore: number, thanId: number): boolean =>
  score === thanScore ? id > thanId : score < thanScore;
