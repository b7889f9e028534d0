/** Limits of connections, requests and sockets at the edge. */
export const HTTP_LIMITS = {
  connection: {
    most: 20_000,
    /**
     * Connections of one client network: more than `socket.perAddress`, since a carrier's calls and requests come from the same
     * few machines.
     */
    perNetwork: 3_000,
    /** Part of the process's file descriptors that connections may take; files, the database and upstreams use the other part. */
    descriptors: 0.75,
    /** Shortest time between two readings of the kernel's connection tables. */
    censusEveryMs: 50,
    /** Wait for each line of the last table: a line takes some microseconds, and 100,000 connections may have ended. */
    censusRestMsPerLine: 0.01,
    /**
     * Requests that are answered in the turn of the event loop that brought them. Further ones wait for the next turn, in
     * which a client that has written thousands of requests into one packet is cut off.
     */
    requestsPerTurn: 32,
    /** Size of the pieces of a connection's last answer, so that the library buffers no more than one for a slow reader. */
    lastPieceBytes: 64 * 1024,
    /** Time in which the reader of a streamed answer takes nothing, after which its connection is cut. */
    streamStallMs: 30_000,
  },
  body: {
    jsonBytes: 1024 * 1024,
    /** Bytes of request bodies in memory, of all requests together, while the bodies arrive or are handled. */
    bytesInFlight: 256 * 1024 * 1024,
    /**
     * Bytes of request bodies in memory of one agent, one developer, or one network without a credential: two files of the
     * largest size.
     */
    bytesPerCaller: 64 * 1024 * 1024,
    /** Bytes of a body beyond its limit that are still read and dropped, so that the client can read the refusal. */
    discardBytes: 16 * 1024 * 1024,
    /** Unread bytes of a streamed body beyond which its connection is paused. */
    streamAheadBytes: 64 * 1024,
  },
  form: {
    fieldsBytes: 128 * 1024,
    parts: 64,
    partHeadBytes: 4 * 1024,
  },
  request: {
    idChars: 128,
    /** Characters of an unknown path that its refusal quotes. A longer path is not compared with routes. */
    badPathChars: 128,
  },
  socket: {
    messageBytes: 1024 * 1024,
    /**
     * Bytes up to which the library buffers an unfinished message. A longer message ends the connection without a close frame.
     */
    hardMessageBytes: 1024 * 1024 + 64 * 1024,
    /**
     * Budget of one socket's messages. `bytes`: two minutes of sound at once, then ten times real time; `busyMs`: time that this
     * process spends on the messages, of which fifty frames of sound a second take about five.
     */
    rates: {
      bytes: { burst: 16 * 1024 * 1024, perSecond: 1024 * 1024 },
      busyMs: { burst: 500, perSecond: 100 },
    },
    backpressureBytes: 1024 * 1024,
    perAddress: 2_500,
    /**
     * Seconds without data after which a socket closes. A socket is pinged after 24 s of silence: proxies on the way cut a
     * connection that is silent for 60 s.
     */
    idleSeconds: 40,
    /** Time for the connection of this process to itself that is made before it listens. */
    upgradeGateMs: 10_000,
    closeReasonBytes: 123,
  },
  health: {
    probeMs: 2_000,
    cacheMs: 1_000,
    statusMs: 30_000,
  },
  mcp: {
    bodyBytes: 10 * 1024 * 1024,
    /** Bounds of a request's JSON. Sound in base64 does not count as text. */
    json: { depth: 64, values: 50_000, members: 25_000, textBytes: 1024 * 1024 },
  },
} as const;
