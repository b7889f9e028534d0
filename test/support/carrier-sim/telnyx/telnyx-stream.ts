import { randomUUID } from 'node:crypto';
import WebSocket from 'ws';
import { encodeAlaw } from '../../../../media/alaw.ts';
import { decodeMulaw } from '../../../../media/mulaw.ts';
import type { Callee, Faults } from '../options.ts';
import { Playback } from '../playback.ts';
import type { SimTime } from '../sim-time.ts';

const FRAME_MS = 20;
const FRAME_BYTES = 160;
/** Telnyx takes chunks of 20 ms to 30 s of PCMU. */
const SHORTEST_CHUNK = FRAME_BYTES;
const LONGEST_CHUNK = 240_000;
/** Of chunks that a busy machine has missed, so many are sent at once and the others never. */
const MOST_LATE_CHUNKS = 3_000;
/** Of three chunks the last comes first. */
const OVERTAKING = [2, 0, 1];

export type TelnyxStreamDeps = {
  readonly time: SimTime;
  /** What the command that began the stream has asked for. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly reachedAt: string;
  readonly callControlId: string;
  readonly clientState: string | undefined;
  readonly line: NonNullable<Callee['line']>;
  readonly faults: Faults;
  /** Sound of the far side for the 20 ms that begin then, in mu-law. */
  readonly soundAt: (sinceAnswerMs: number) => Uint8Array;
  readonly sinceAnswerMs: () => number;
  readonly began: (atMs: number) => void;
};

/** One media stream of a call, as Telnyx speaks it. */
export class TelnyxStream {
  readonly playback = new Playback();
  readonly streamId = randomUUID();
  /** Chunks of the server that Telnyx would not play: too short, too long, or sent where only listening was asked for. */
  refusedChunks = 0;
  isOpen = false;
  /** In whole milliseconds since the answer. */
  beganAtMs = 0;
  /** Resolves when the socket is closed, by either side. `false`: it was never open. */
  readonly closed: Promise<{ readonly wasOpen: boolean; readonly atMs: number }>;
  readonly #deps: TelnyxStreamDeps;
  readonly #chunkMs: number;
  readonly #socket: WebSocket;
  readonly #waiting: string[] = [];
  #sequence = 0;
  #chunk = 0;
  #startedAt = 0;

  constructor(deps: TelnyxStreamDeps) {
    this.#deps = deps;
    this.#chunkMs = deps.line.chunkMs ?? FRAME_MS;
    const token = deps.options.stream_auth_token;
    this.#socket = new WebSocket(deps.reachedAt, {
      headers: typeof token === 'string' ? { 'x-telnyx-streaming-auth-token': token } : {},
      perMessageDeflate: false,
    });
    let wasOpen = false;
    this.#socket.on('error', () => {});
    this.#socket.on('open', () => {
      wasOpen = true;
      this.#begin();
    });
    this.#socket.on('message', (data) => this.#take(String(data)));
    this.closed = new Promise((resolve) => {
      this.#socket.on('close', () => {
        this.isOpen = false;
        resolve({ wasOpen, atMs: deps.sinceAnswerMs() });
      });
    });
  }

  press(digit: string): void {
    this.#send('dtmf', { occurred_at: new Date().toISOString(), dtmf: { digit } });
  }

  /** Ends the stream as the carrier does: it says so, and closes. */
  stop(): void {
    for (const message of this.#waiting.splice(0)) this.#socket.send(message);
    this.#send('stop', {
      stop: { user_id: 'user', call_control_id: this.#deps.callControlId },
    });
    this.#socket.close(1000);
  }

  /** Breaks the connection without a word. */
  drop(): void {
    this.#socket.terminate();
  }

  #begin(): void {
    const { callControlId, clientState, faults, line, time } = this.#deps;
    this.isOpen = true;
    this.#startedAt = time.now();
    this.beganAtMs = Math.round(this.#deps.sinceAnswerMs());
    this.#socket.send('{"event":"connected","version":"1.0.0"}');
    this.#send('start', {
      start: {
        user_id: 'user',
        call_control_id: callControlId,
        ...(clientState !== undefined && { client_state: clientState }),
        media_format: { encoding: line.encoding ?? 'PCMU', sample_rate: 8_000, channels: 1 },
      },
    });
    const { dropsSocketAtMs } = faults;
    faults.dropsSocketAtMs = undefined;
    if (dropsSocketAtMs !== undefined) time.after(dropsSocketAtMs, () => this.drop());
    this.#deps.began(this.beganAtMs);
    this.#tick();
  }

  #tick(): void {
    if (!this.isOpen) return;
    const due = Math.floor((this.#deps.time.now() - this.#startedAt) / this.#chunkMs);
    this.#chunk = Math.max(this.#chunk, due - MOST_LATE_CHUNKS);
    while (this.#chunk < due) this.#sendChunk();
    this.#deps.time.after(FRAME_MS, () => this.#tick());
  }

  #sendChunk(): void {
    const timestamp = this.#chunk * this.#chunkMs;
    const atMs = this.beganAtMs + timestamp;
    const frames: Uint8Array[] = [];
    for (let ms = 0; ms < this.#chunkMs; ms += FRAME_MS) {
      frames.push(this.#deps.soundAt(atMs + ms));
      for (const name of this.playback.frame(atMs + ms)) this.#echo(name);
    }
    this.#chunk++;
    const media = {
      track: 'inbound',
      chunk: String(this.#chunk),
      timestamp: String(timestamp),
      payload: encoded(Buffer.concat(frames), this.#deps.line.encoding).toString('base64'),
    };
    this.#sendSound(this.#message('media', { media }));
  }

  #sendSound(message: string): void {
    // The first three come in order: a stream whose first chunk is overtaken has a later begin.
    if (!this.#deps.faults.reordersFrames || this.#chunk <= OVERTAKING.length) {
      this.#socket.send(message);
      return;
    }
    this.#waiting.push(message);
    if (this.#waiting.length < OVERTAKING.length) return;
    const three = this.#waiting.splice(0);
    for (const at of OVERTAKING) this.#socket.send(three[at] ?? '');
  }

  #take(text: string): void {
    const message = JSON.parse(text) as Record<string, Record<string, string> | string>;
    const member = message[String(message.event)] as Record<string, string> | undefined;
    if (message.event === 'media') this.#takeSound(Buffer.from(String(member?.payload), 'base64'));
    if (message.event === 'mark') this.playback.mark(String(member?.name));
    if (message.event === 'clear') for (const name of this.playback.clear()) this.#echo(name);
  }

  #takeSound(bytes: Buffer): void {
    const { stream_bidirectional_mode: mode, stream_bidirectional_codec: codec } =
      this.#deps.options;
    const isChunk = bytes.length >= SHORTEST_CHUNK && bytes.length <= LONGEST_CHUNK;
    if (mode === 'rtp' && codec === 'PCMU' && isChunk) this.playback.push(bytes);
    else this.refusedChunks++;
  }

  #echo(name: string): void {
    const { faults, time } = this.#deps;
    const say = () => this.#send('mark', { mark: { name } });
    for (let i = faults.doublesMarks ? 2 : 1; i > 0; i--) {
      if (faults.markDelayMs > 0) time.after(faults.markDelayMs, say);
      else say();
    }
  }

  #message(event: string, member: object): string {
    const sequence_number = String(++this.#sequence);
    return JSON.stringify({ event, sequence_number, stream_id: this.streamId, ...member });
  }

  #send(event: string, member: object): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(this.#message(event, member));
  }
}

/** Mu-law as a line of this encoding has it. */
function encoded(mulaw: Buffer, encoding: NonNullable<Callee['line']>['encoding']): Buffer {
  if (encoding === undefined || encoding === 'PCMU') return mulaw;
  const samples = new Int16Array(mulaw.length);
  decodeMulaw(mulaw, samples);
  if (encoding === 'L16') return Buffer.from(samples.buffer);
  const alaw = Buffer.alloc(samples.length);
  encodeAlaw(samples, alaw);
  return alaw;
}
