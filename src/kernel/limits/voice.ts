/** Limits of sockets, live transcription and voice sessions. */
export const VOICE_LIMITS = {
  // Sockets
  socketMessageBytes: 1024 * 1024,
  /**
   * Bytes up to which the library buffers an unfinished message. A longer message ends the connection without a close frame.
   */
  socketHardMessageBytes: 1024 * 1024 + 64 * 1024,
  /**
   * Budget of one socket's messages. `bytes`: two minutes of sound at once, then ten times real time; `busyMs`: time that this
   * process spends on the messages, of which fifty frames of sound a second take about five.
   */
  socketRates: {
    bytes: { burst: 16 * 1024 * 1024, perSecond: 1024 * 1024 },
    busyMs: { burst: 500, perSecond: 100 },
  },
  socketBackpressureBytes: 1024 * 1024,
  socketsPerAddress: 2_500,
  /**
   * Seconds without data after which a socket closes. A socket is pinged after 24 s of silence: proxies on the way cut a
   * connection that is silent for 60 s.
   */
  socketIdleSeconds: 40,
  /** Time for the connection of this process to itself that is made before it listens. */
  upgradeGateMs: 10_000,
  closeReasonBytes: 123,

  // Realtime sessions

  // Realtime sessions made of several models

  // Client secrets

  // Realtime sessions at an upstream

  // Live sessions, in the protocol of `/v1/live/sessions`

  // Live transcription at an upstream
} as const;
