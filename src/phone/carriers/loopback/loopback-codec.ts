import { CallbackMalformed, type MediaCodec, type MediaEvent } from '../carrier.ts';

/** A message of the loopback's media stream: a JSON object, with sound in base64. */
export type LoopbackMessage =
  | { readonly media: string; readonly atMs: number }
  | { readonly mark: string }
  | { readonly clear: true }
  | { readonly digit: string };

export const readLoopback = (message: string | Uint8Array): LoopbackMessage =>
  JSON.parse(typeof message === 'string' ? message : Buffer.from(message).toString());

export function createLoopbackCodec(): MediaCodec {
  return {
    read(bytes): MediaEvent {
      let message: LoopbackMessage;
      try {
        message = readLoopback(bytes);
      } catch (cause) {
        throw new CallbackMalformed('not JSON', { cause });
      }
      if ('media' in message) {
        return { kind: 'media', atMs: message.atMs, bytes: Buffer.from(message.media, 'base64') };
      }
      if ('mark' in message) return { kind: 'mark', name: message.mark };
      if ('digit' in message) return { kind: 'digit', digit: message.digit };
      return { kind: 'ignored' };
    },
    media: (bytes) => JSON.stringify({ media: Buffer.from(bytes).toString('base64'), atMs: 0 }),
    mark: (mark) => JSON.stringify({ mark }),
    clear: () => JSON.stringify({ clear: true }),
  };
}
