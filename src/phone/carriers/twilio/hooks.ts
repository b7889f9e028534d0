/**
 * Addresses for Twilio's callbacks. Twilio signs each address exactly as it was given, so all of them are built in one place.
 */
export type TwilioHooks = {
  /** Returns the address at which Twilio asks what to do with a call; `callId`: the call has a row here already. */
  voice(callId?: string): string;
  /** Returns the same address for a call whose stream is opened again. */
  voiceAgain(callId: string): string;
  status(callId?: string): string;
  machine(callId: string): string;
  /** Returns the address of the summary that Twilio reads to the target of a transfer. */
  whisper(callId: string): string;
  /** Returns the address at which Twilio reports that the target of a transfer has answered. */
  transfer(callId: string): string;
  recording(callId: string): string;
  readonly usage: string;
  /** Address of all media streams. Twilio passes no query on, so the call is a parameter of the stream. */
  readonly media: string;
};

/** Returns the webhook addresses of a server at this public origin. */
export function hooksOf(publicUrl: string): TwilioHooks {
  const root = `${publicUrl.replace(/\/+$/, '')}/v1/telephony/twilio`;
  const of = (hook: string, callId?: string) =>
    callId === undefined ? `${root}/${hook}` : `${root}/${hook}?call=${encodeURIComponent(callId)}`;
  return {
    voice: (callId) => of('voice', callId),
    voiceAgain: (callId) => `${of('voice', callId)}&again=1`,
    status: (callId) => of('status', callId),
    machine: (callId) => of('machine', callId),
    whisper: (callId) => of('whisper', callId),
    transfer: (callId) => of('transfer', callId),
    recording: (callId) => of('recording', callId),
    usage: of('usage'),
    media: of('media').replace(/^http/, 'ws'),
  };
}
