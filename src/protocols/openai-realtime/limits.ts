/** Limits of OpenAI's Realtime protocol, and of its sessions at an upstream. */
export const REALTIME_LIMITS = {
  /** Characters of one image in its event. */
  imageChars: 1_000_000,
  instructionsChars: 65_536,
  toolsChars: 65_536,
  /** Billed turns that a session remembers, so that no turn is billed twice. */
  knownTurns: 1_024,
  /** Bytes for each second of sound in a frame: 24 kHz of 16 bits, in base64. */
  soundBytesPerSecond: 64_000,
  /** No relayed token of sound is shorter, in base64 at the smallest rate. */
  heardTokenBytes: 1_000,
  /** Tokens that an upstream may count beyond the sound and text that were relayed: of input sound, and of an answer. */
  uncarriedTokens: { heard: 256, answered: 64 },
  /** Tokens of the smallest turn that is held when the balance does not cover a full turn: 25 s of input, 3 s of answer. */
  leastTurn: { inputTokens: 256, outputTokens: 64 },
  /** Tokens of new input that are held for each token of an answer. */
  inputPerOutput: 4,
} as const;
