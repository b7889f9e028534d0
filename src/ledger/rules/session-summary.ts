/** Times of one stage over all turns of a session, in whole milliseconds. */
export type StageSummary = {
  readonly count: number;
  readonly meanMs: number;
  readonly maxMs: number;
};

export const STAGES = [
  'final',
  'prompt',
  'reply',
  'first_audio',
  'answer',
  'journal',
  'forward',
  'wait',
  'first_token',
  'synthesis',
  'first_frame',
] as const;

/**
 * `final`: end of speech to transcript. `answer`: end of speech to the first sound of what answers it. From the begin of
 * an answer: `prompt` until what it answers to is known, `reply` until its words are, `first_audio` until its first sound.
 * `journal`: writing what a turn cost. `forward`: the first sound of a relayed answer, from its arrival to its going on.
 * Of a call: `wait` is the silence that proves the end of a turn; from the transcript until the `first_token`, from there
 * the `synthesis` until the first sound is made, and from there until the `first_frame` goes out.
 */
export type Stage = (typeof STAGES)[number];

/** Summary of a live session, written with its settlement. Null: a figure that its kind of session does not know. */
export type SessionSummary = {
  readonly turns: number;
  readonly interruptions: number;
  readonly heardSeconds: number;
  readonly spokenSeconds: number;
  readonly stages: Readonly<Partial<Record<Stage, StageSummary>>>;
  /** Deviation of the caller's audio from its audio time, in milliseconds: smoothed, and the largest. */
  readonly jitterMs: number | null;
  readonly jitterMaxMs: number | null;
  /** Gaps within an answer at a client that plays in real time: their number, and their sum in milliseconds. */
  readonly underruns: number | null;
  readonly underrunMs: number | null;
};
