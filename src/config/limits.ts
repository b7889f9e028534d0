/** Defaults of settings, and bounds that a setting may override. */
export const CONFIG_LIMITS = {
  agentProxyPerMinute: 3_000,
  headerBlockBytes: 16 * 1024,
  /** Sockets of one agent at a time. The setting `SOCKETS_PER_AGENT` overrides this number. */
  socketsPerAgent: 100,
  validBeforeSeconds: 90,
  /** Days that a response is kept, unless configured otherwise. */
  responsesKeptDays: 30,
  chain: {
    confirmations: 4,
    reconcileSeconds: 15,
    clockSkewSeconds: 30,
  },
  phone: {
    /** Calls at a time where nothing else is set, and the most that can be. */
    concurrentCalls: { agent: 3, account: 10, most: 1_000 },
    /** Days that a carrier keeps recordings, unless the settings say otherwise. */
    recordingDays: 30,
    /** Time without sound after which a line counts as dead: carriers send sound all the time, even of a silent caller. */
    mediaTimeoutMs: 10_000,
  },
} as const;
