import WebSocket from 'ws';
import { Playback } from './playback.ts';
import type { SimTime } from './sim-time.ts';

const FRAME_MS = 20;
/** Of frames that a busy machine has missed, so many are sent at once and the others never. */
const MOST_LATE_FRAMES = 3_000;

export type StreamDeps = {
  readonly time: SimTime;
  readonly url: string;
  readonly reachedAt: string;
  readonly signature: string;
  readonly accountSid: string;
  readonly callSid: string;
  readonly streamSid: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Undefined: the socket holds. */
  readonly dropsAtMs: number | undefined;
  readonly losesAtMs: number | undefined;
  readonly stopsSoundAtMs: () => number | undefined;
  readonly markDelayMs: () => number;
  readonly doublesMarks: () => boolean;
  /** Sound of the far side for the frame that begins then. */
  readonly soundAt: (sinceAnswerMs: number) => Uint8Array;
  readonly sinceAnswerMs: () => number;
  readonly began: (atMs: number) => void;
};

/** One media stream of a call, as Twilio speaks it. */
export class MediaStream {
  readonly playback = new Playback();
  /** What the server has sent, parsed, in its order. */
  readonly received: Record<string, unknown>[] = [];
  /** Resolves when the socket is closed, by either side. */
  readonly closed: Promise<{ readonly code: number; readonly atMs: number }>;
  isOpen = false;
  /** In whole milliseconds since the answer. */
  beganAtMs = 0;
  readonly #deps: StreamDeps;
  readonly #socket: WebSocket;
  #over = (_code: number) => {};
  #sequence = 0;
  #chunk = 0;
  #startedAt = 0;

  constructor(deps: StreamDeps) {
    this.#deps = deps;
    this.#socket = new WebSocket(deps.reachedAt, {
      headers: { 'X-Twilio-Signature': deps.signature },
      perMessageDeflate: false,
    });
    this.#socket.on('error', () => {});
    this.#socket.on('open', () => this.#begin());
    this.#socket.on('message', (data) => this.#take(String(data)));
    this.closed = new Promise((resolve) => {
      this.#over = (code) => {
        this.isOpen = false;
        resolve({ code, atMs: deps.sinceAnswerMs() });
      };
      this.#socket.on('close', this.#over);
    });
  }

  press(digit: string): void {
    this.#send('dtmf', { dtmf: { track: 'inbound_track', digit } });
  }

  /** Ends the stream as the carrier does: it says so, and closes. */
  stop(): void {
    const { accountSid, callSid } = this.#deps;
    this.#send('stop', { stop: { accountSid, callSid } });
    this.#socket.close(1000);
  }

  /** Breaks the connection without a word. */
  drop(): void {
    this.#socket.terminate();
  }

  /** The connection is lost, and only this side knows. */
  lose(): void {
    this.#socket.pause();
    this.#over(1006);
  }

  #begin(): void {
    const { accountSid, callSid, streamSid, parameters } = this.#deps;
    this.isOpen = true;
    this.#startedAt = this.#deps.time.now();
    this.beganAtMs = Math.round(this.#deps.sinceAnswerMs());
    this.#socket.send('{"event":"connected","protocol":"Call","version":"1.0.0"}');
    this.#send('start', {
      start: {
        accountSid,
        streamSid,
        callSid,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: parameters,
      },
    });
    const { dropsAtMs, losesAtMs } = this.#deps;
    if (dropsAtMs !== undefined) this.#deps.time.after(dropsAtMs, () => this.drop());
    if (losesAtMs !== undefined) this.#deps.time.after(losesAtMs, () => this.lose());
    this.#deps.began(this.beganAtMs);
    this.#tick();
  }

  #tick(): void {
    if (!this.isOpen) return;
    const due = Math.floor((this.#deps.time.now() - this.#startedAt) / FRAME_MS);
    if (due - this.#chunk > MOST_LATE_FRAMES) this.#chunk = due - MOST_LATE_FRAMES;
    const stopsAtMs = this.#deps.stopsSoundAtMs() ?? Number.POSITIVE_INFINITY;
    while (this.#chunk < due && this.#chunk * FRAME_MS < stopsAtMs) this.#frame();
    this.#deps.time.after(FRAME_MS, () => this.#tick());
  }

  #frame(): void {
    const timestamp = this.#chunk * FRAME_MS;
    const atMs = this.beganAtMs + timestamp;
    this.#chunk++;
    this.#send('media', {
      media: {
        track: 'inbound',
        chunk: String(this.#chunk),
        timestamp: String(timestamp),
        payload: Buffer.from(this.#deps.soundAt(atMs)).toString('base64'),
      },
    });
    for (const name of this.playback.frame(atMs)) this.#echo(name);
  }

  #take(text: string): void {
    const message = JSON.parse(text) as Record<string, Record<string, string> | string>;
    this.received.push(message);
    if (message.streamSid !== this.#deps.streamSid) return;
    const member = message[String(message.event)] as Record<string, string> | undefined;
    if (message.event === 'media') {
      this.playback.push(Buffer.from(String(member?.payload), 'base64'));
    }
    if (message.event === 'mark') this.playback.mark(String(member?.name));
    if (message.event === 'clear') for (const name of this.playback.clear()) this.#echo(name);
  }

  #echo(name: string): void {
    const { time, markDelayMs, doublesMarks } = this.#deps;
    const say = () => this.#send('mark', { mark: { name } });
    for (let i = doublesMarks() ? 2 : 1; i > 0; i--) {
      if (markDelayMs() > 0) time.after(markDelayMs(), say);
      else say();
    }
  }

  #send(event: string, member: object): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const sequenceNumber = String(++this.#sequence);
    const { streamSid } = this.#deps;
    this.#socket.send(JSON.stringify({ event, sequenceNumber, streamSid, ...member }));
  }
}
