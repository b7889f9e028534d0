import type { RawSocket } from './raw-socket.ts';
import { frame, rawUpgrade } from './web-socket-client.ts';

/** The first byte of frames that end their message. */
export const FIRST = {
  continuation: 0x80,
  text: 0x81,
  binary: 0x82,
  close: 0x88,
  ping: 0x89,
  pong: 0x8a,
} as const;
/** Taken off the first byte: more of the message is to come. */
export const FIN = 0x80;

export type ServerFrame = { readonly opcode: number; readonly payload: Buffer };

/** How a server took what it was sent: it goes on, said goodbye with a code, or hung up without a word. */
export type Outcome = 'open' | 'cut' | number;

const CLOSE = 8;
const PONG = 10;

/** A WebSocket client without manners: every byte behind the upgrade is the test's own. */
export class RawWebSocket {
  readonly socket: RawSocket;
  /** Where in what was received the next whole frame begins. */
  #at: number;
  readonly #frames: ServerFrame[] = [];
  #pings = 0;

  private constructor(socket: RawSocket) {
    this.socket = socket;
    this.#at = socket.received.indexOf('\r\n\r\n') + 4;
  }

  static async open(port: number, path: string, key: string): Promise<RawWebSocket> {
    return new RawWebSocket(await rawUpgrade(port, path, [`Authorization: Bearer ${key}`]));
  }

  send(...frames: readonly Uint8Array[]): void {
    this.socket.send(Buffer.concat(frames));
  }

  /** All whole frames that came. */
  get frames(): readonly ServerFrame[] {
    const { received } = this.socket;
    for (;;) {
      const next = readFrame(received, this.#at);
      if (next === undefined) return this.#frames;
      this.#at = next.end;
      this.#frames.push(next.frame);
    }
  }

  get texts(): string[] {
    return this.frames.filter(({ opcode }) => opcode === 1).map(({ payload }) => `${payload}`);
  }

  /** The payloads of what answers pings. */
  get pongs(): string[] {
    return this.frames.filter(({ opcode }) => opcode === PONG).map(({ payload }) => `${payload}`);
  }

  /** Asks whether the server still listens, behind everything that was sent. */
  async outcome(timeoutMs = 10_000): Promise<Outcome> {
    const question = `still there? ${++this.#pings}`;
    this.send(frame(FIRST.ping, Buffer.from(question)));
    return this.fate(
      (frames) => frames.some(({ payload }) => `${payload}` === question),
      timeoutMs,
    );
  }

  /** Waits for the end, or for frames that satisfy `enough`. */
  async fate(
    enough: (frames: readonly ServerFrame[]) => boolean = () => false,
    timeoutMs = 10_000,
  ): Promise<Outcome> {
    await this.socket.until(() => this.socket.isClosed || enough(this.frames), timeoutMs);
    const goodbye = this.frames.find(({ opcode }) => opcode === CLOSE);
    if (goodbye !== undefined) return goodbye.payload.length < 2 ? 1005 : codeOf(goodbye);
    return this.socket.isClosed ? 'cut' : 'open';
  }
}

const codeOf = ({ payload }: ServerFrame): number => payload.readUInt16BE(0);

/** Servers mask nothing. */
function readFrame(received: string, at: number) {
  if (received.length < at + 2) return undefined;
  const byte = (index: number) => received.charCodeAt(at + index);
  const short = byte(1) & 0x7f;
  const [start, length] =
    short === 126
      ? [4, byte(2) * 256 + byte(3)]
      : short === 127
        ? [10, Number(Buffer.from(received.slice(at + 2, at + 10), 'latin1').readBigUInt64BE(0))]
        : [2, short];
  const end = at + start + length;
  if (!(received.length >= end)) return undefined;
  const payload = Buffer.from(received.slice(at + start, end), 'latin1');
  return { end, frame: { opcode: byte(0) & 0x0f, payload } };
}

/** A close frame with a code. */
export function closeFrame(code: number, reason: Uint8Array = new Uint8Array()): Buffer {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return frame(FIRST.close, Buffer.concat([payload, reason]));
}
