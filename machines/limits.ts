/** Deadlines of the state machines of transcriptions, voice sessions and relayed sessions. */
export const MACHINE_LIMITS = {
  transcription: {
    /** Time after the last audio to hold money for audio that still waits. Together with the finals this fits a usual drain. */
    holdMs: 15_000,
    /** Time for the remaining finals after `holdMs`: in all, and without a further final. */
    mostMs: 120_000,
    finishMs: 10_000,
  },
  realtime: {
    turnMs: 120_000,
  },
  relay: {
    /** Time for an upstream to report the usage of a turn during which its client has left. */
    finishMs: 3_000,
  },
} as const;
