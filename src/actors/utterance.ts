/** What somebody says without a pause, while it is being heard and made out. */
export type Utterance = {
  readonly segments: string[];
  /** Words that may still change, behind the segments. */
  guess: string;
  isPausing: boolean;
  /** Index into `segments` of the first that was not yet told. */
  tailFrom: number;
  tailStartMs: number;
  frames: number;
  /** Sound that the recogniser has not had yet; of one that is dropped, none. */
  readonly waiting: Int16Array[];
  dropped: boolean;
  failed: boolean;
};

export const newUtterance = (beganMs: number): Utterance => ({
  segments: [],
  guess: '',
  isPausing: false,
  tailFrom: 0,
  tailStartMs: beganMs,
  frames: 0,
  waiting: [],
  dropped: false,
  failed: false,
});

/** Of one that goes on, with what may still change. */
export const wordsSoFar = ({ guess, segments }: Utterance): string =>
  [...segments, guess].filter((part) => part !== '').join(' ');
