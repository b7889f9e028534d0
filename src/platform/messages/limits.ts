/** Budgets of the messages of sockets, and bounds of the messages that wait. */
export const MESSAGE_LIMITS = {
  /** Bytes that a shorter message counts as, and bytes that a ping or pong counts as: each costs the server that much work. */
  leastBytes: 256,
  pingBytes: 4 * 1024,
  /** Time for the messages of all sockets in one turn of the event loop; further messages wait for the next turn. */
  msPerTurn: 5,
  /**
   * Bounds of the messages that wait. A socket closes beyond `socket`, or beyond `link` where this server is the client. The
   * server stops reading a socket beyond `ahead`, all sockets of an agent beyond `owner`, and all sockets beyond `all`.
   */
  waiting: {
    socket: { messages: 8_192, bytes: 16 * 1024 * 1024 },
    link: { messages: 4_096 },
    ahead: { messages: 64, bytes: 256 * 1024 },
    owner: { messages: 2_048, bytes: 8 * 1024 * 1024 },
    all: { messages: 8_192, bytes: 64 * 1024 * 1024 },
  },
  /** Budgets of a socket at an upstream or an application. The socket is not read while its use is over a budget. */
  links: {
    bytes: { burst: 16 * 1024 * 1024, perSecond: 4 * 1024 * 1024 },
    busyMs: { burst: 100, perSecond: 100 },
  },
  /** Budgets of all sockets of one agent at upstreams and applications together. */
  agentLinks: {
    bytes: { burst: 64 * 1024 * 1024, perSecond: 32 * 1024 * 1024 },
    busyMs: { burst: 1_000, perSecond: 600 },
  },
} as const;
