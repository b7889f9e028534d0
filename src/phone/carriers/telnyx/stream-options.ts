import { encodeClientState } from './client-state.ts';
import type { TelnyxHooks } from './hooks.ts';

/**
 * Options of the media stream of a call: mu-law at 8 kHz in both directions, which every line has. Without the mode `rtp`
 * Telnyx drops the sound that it gets.
 */
export const streamOptions = (hooks: TelnyxHooks, callId: string) => ({
  stream_url: hooks.media(callId),
  stream_auth_token: hooks.mediaToken(callId),
  stream_track: 'inbound_track',
  stream_codec: 'PCMU',
  stream_bidirectional_mode: 'rtp',
  stream_bidirectional_codec: 'PCMU',
  stream_bidirectional_sampling_rate: 8_000,
  stream_bidirectional_target_legs: 'self',
});

/** Options of a stream that is opened again. They also set the client state, which a transfer had replaced. */
export const streamAgainOptions = (hooks: TelnyxHooks, callId: string) => ({
  client_state: encodeClientState({ kind: 'streamed', callId }),
  ...streamOptions(hooks, callId),
});
