/** Limits of the protocol of `/v1/live/sessions`. */
export const LIVE_LIMITS = {
  /** Time for a client to send `session.start`. */
  startMs: 30_000,
  /** Longest life of a session. */
  seconds: 7_200,
  /** Time that speech is sent ahead of real time. The protocol has no event that clears sound which a client has not played. */
  aheadMs: 200,
  /** Time for one answer that is sent in real time: the longest text, spoken slowly. */
  turnMs: 600_000,
  /** Messages of the history that a session may begin with. */
  items: 128,
  /** Characters of one text that is appended during a session: 500 tokens by the protocol. */
  appendChars: 4_096,
  /** Texts that wait to be spoken. */
  commentaries: 8,
  /** Interval at which the hold of a session at an upstream is compared with the time. */
  checkMs: 1_000,
  /** Length of a slice of a session that is billed by its time. The session's hold covers `heldSlices` slices. */
  sliceSeconds: 10,
  heldSlices: 3,
} as const;
