/** Of the dialect of Responses, and of what is kept of them. */
export const RESPONSES_LIMITS = {
  idChars: 256,
  instructionChars: 512 * 1024,
  tools: 1_024,
  /** Instructions, tools and all else that a response repeats of its request: three events of a stream have it. */
  echoBytes: 1024 * 1024,
  includes: 32,
  metadataPairs: 16,
  metadataKeyChars: 64,
  metadataChars: 512,
  /** Responses that one may continue, one the other. */
  chain: 1_000,
  /** Of a conversation that is read back, and of what one request refers to. */
  conversationBytes: 8 * 1024 * 1024,
  /** A longer one is not kept: its input and its output. */
  keptBytes: 4 * 1024 * 1024,
  /** Of one agent; beyond it those go that were used longest ago. */
  perAgent: 2_000,
  bytesPerAgent: 64 * 1024 * 1024,
  /** Time to live, unless it is configured. */
  keptDays: 30,
  /** One that is continued is kept as long again, written once this part of that time is over. */
  renewedAfterPart: 0.1,
  /** Rows that the worker deletes at a time, and how often in one run. */
  duePerPass: 500,
  passesPerTick: 20,
  itemsPerPage: 100,
  usualItemsPerPage: 20,
} as const;
