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
 * `final`: end of speech to transcript. `answer`: end of speech to the first audio of the answer. From the begin of an answer:
 * `prompt` until the caller's words are known, `reply` until the answer's words are known, `first_audio` until its first audio.
 * `journal`: writing the cost of a turn. `forward`: the first audio of a relayed answer, from its arrival until it is
 * forwarded. For a call: `wait` is the silence that proves the end of a turn; `first_token` is counted from the transcript,
 * `synthesis` from there until the first audio is made, and `first_frame` from there until it is sent.
 */
export type Stage = (typeof STAGES)[number];

/** Summary of a live session, written with its settlement. Null for a figure that does not exist in this kind of session. */
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
