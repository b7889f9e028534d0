/** Limits of outgoing requests and of the addresses that callers choose. */
export const EGRESS_LIMITS = {
  connectMs: 10_000,
  address: {
    urlChars: 8_192,
    hostChars: 253,
    labelChars: 63,
    /** Addresses that one name may resolve to; all of them are checked. */
    resolved: 64,
    connectAttempts: 4,
  },
  dns: {
    queryMs: 1_500,
    tries: 2,
    totalMs: 5_000,
    underWay: 1_024,
  },
  connections: {
    most: 2_048,
    perOrigin: 1_536,
    idle: 512,
    /** Time that an idle connection is kept: less than the five seconds after which common servers close without notice. */
    keepAliveMs: 4_000,
    keepAliveMaxMs: 60_000,
  },
  request: {
    headers: 256,
    headerBytes: 64 * 1024,
  },
  response: {
    headerBytes: 64 * 1024,
    /** Interim answers, such as 103, before the final answer. */
    interim: 16,
    /** Bytes of an answer in memory at which reading stops until its slow reader takes some. */
    queueBytes: 128 * 1024,
  },
} as const;
