/** How long one stage took over all turns of a session, in whole milliseconds. */
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

/** How a live session went; written with its settlement. Null is what its kind of session does not know. */
export type SessionSummary = {
  readonly turns: number;
  readonly interruptions: number;
  readonly heardSeconds: number;
  readonly spokenSeconds: number;
  readonly stages: Readonly<Partial<Record<Stage, StageSummary>>>;
  /** How far the caller's sound came from its audio time: smoothed, and at the most. */
  readonly jitterMs: number | null;
  readonly jitterMaxMs: number | null;
  /** How often, and how long, a client that plays in real time ran dry in the middle of an answer. */
  readonly underruns: number | null;
  readonly underrunMs: number | null;
};
