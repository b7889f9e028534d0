import { HEARING_HZ } from '../../../../media/hearing.ts';
import { writePcmBytes } from '../../../../media/pcm.ts';
import { parseObject } from '../../../kernel/json/parse-json.ts';
import type { Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { UpstreamSocket } from '../realtime/realtime-rail.ts';
import type { TurnEvent, TurnListener, TurnSocket } from './turn-rail.ts';

/**
 * Milliseconds of audio in a frame: within the 50 to 1,000 ms that AssemblyAI accepts, and close to the 80 ms that Deepgram
 * advises.
 */
const FRAME_MS = 100;
const FRAME_BYTES = (HEARING_HZ * 2 * FRAME_MS) / 1_000;

/** The messages of one protocol. */
export type TurnProtocol = {
  readonly endTurn: string;
  readonly endSession: string;
  /** Reads a message. Undefined when the message has no news of a turn; a text when the session is over, with the reason. */
  readonly read: (message: Json) => TurnEvent | string | undefined;
};

/** Opens a session at an upstream that detects the ends of turns, over the messages of its protocol. */
export function openTurns(upstream: UpstreamSocket, protocol: TurnProtocol): TurnSocket {
  const frames = new SoundFrames(FRAME_BYTES, (frame) => upstream.send(frame, true));
  let listener: TurnListener | undefined;
  const end = (why: string) => {
    const told = listener;
    listener = undefined;
    told?.closed(why);
  };
  const say = (message: string) => upstream.send(Buffer.from(message), false);
  return {
    get unsentBytes() {
      return upstream.unsentBytes;
    },
    listen(own) {
      listener = own;
      upstream.listen({
        frame(bytes, isBinary) {
          const read = isBinary ? undefined : protocol.read(parseObject(bytes));
          if (typeof read === 'string') end(read);
          else if (read !== undefined) listener?.event(cut(read));
        },
        closed: (code) => end(`closed with ${code}`),
      });
    },
    send: (pcm) => frames.push(pcm),
    endTurn() {
      frames.finish();
      say(protocol.endTurn);
    },
    close() {
      listener = undefined;
      say(protocol.endSession);
      upstream.close();
    },
  };
}

const cut = ({ kind, text }: TurnEvent): TurnEvent => ({
  kind,
  text: text.trim().slice(0, MODEL_LIMITS.link.itemChars),
});

/** Cuts 16-bit audio into frames of one size, which upstreams require. */
class SoundFrames {
  readonly #frame: Buffer;
  readonly #send: (frame: Uint8Array) => void;
  #filled = 0;

  /** `send` copies the frame, or has put it on its way, when it returns. */
  constructor(frameBytes: number, send: (frame: Uint8Array) => void) {
    this.#frame = Buffer.alloc(frameBytes);
    this.#send = send;
  }

  push(pcm: Int16Array): void {
    for (let at = 0; at < pcm.length; ) {
      const room = (this.#frame.length - this.#filled) / 2;
      const part = pcm.subarray(at, at + room);
      writePcmBytes(part, this.#frame.subarray(this.#filled));
      this.#filled += part.length * 2;
      at += part.length;
      if (this.#filled === this.#frame.length) this.#flush();
    }
  }

  /** Sends the remaining samples, filled up with silence to a whole frame. */
  finish(): void {
    if (this.#filled === 0) return;
    this.#frame.fill(0, this.#filled);
    this.#flush();
  }

  #flush(): void {
    this.#filled = 0;
    this.#send(Buffer.from(this.#frame));
  }
}
