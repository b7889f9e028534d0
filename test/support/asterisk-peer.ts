import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { WebSocket } from 'ws';

const FRAME_BYTES = 160;
const FRAME_MS = 20;
const SILENCE = new Uint8Array(FRAME_BYTES).fill(0xff);
const PASSWORD = 'the password of the bridge';
const BRIDGE = new URL('../../docs/asterisk/bridge.mjs', import.meta.url).pathname;

/** The bridge as an operator starts it. Resolves with its port. */
export async function startBridge(environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [BRIDGE], {
    env: { PATH: process.env.PATH, BRIDGE_PORT: '0', BRIDGE_PASSWORD: PASSWORD, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(/listens on (\d+)/.exec(String(line))?.[1]);
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/** A WebSocket channel of Asterisk with its queue of frames, as chan_websocket has it. Its control messages are JSON. */
export class AsteriskPeer {
  readonly commands: string[] = [];
  /** Sound that was played to the caller, silence between it left out. */
  readonly played: Uint8Array[] = [];
  readonly marksPassed: string[] = [];
  /** Bytes that filled no frame: Asterisk drops them. */
  droppedBytes = 0;
  readonly #socket: WebSocket;
  readonly #timer: NodeJS.Timeout;
  #queue: (Uint8Array | string)[] = [];
  #saying: Uint8Array = new Uint8Array();
  #isMuted = false;

  constructor(port: number, query: Readonly<Record<string, string>>) {
    const authorization = `Basic ${Buffer.from(`asterisk:${PASSWORD}`).toString('base64')}`;
    const url = `ws://127.0.0.1:${port}/media?${new URLSearchParams(query)}`;
    this.#socket = new WebSocket(url, 'media', { headers: { authorization } });
    this.#socket.on('open', () => {
      // Sound may come before this message (asterisk issue 1712).
      this.#step();
      this.#tell({ event: 'MEDIA_START', format: 'ulaw', optimal_frame_size: 160, ptime: 20 });
    });
    this.#socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#enqueue(data);
      else this.#obey(JSON.parse(String(data)) as { command: string; correlation_id?: string });
    });
    this.#socket.on('error', () => {});
    this.#timer = setInterval(() => this.#step(), FRAME_MS);
    this.#socket.on('close', () => clearInterval(this.#timer));
  }

  get isOver(): boolean {
    return this.#socket.readyState === WebSocket.CLOSED;
  }

  get queuedFrames(): number {
    return this.#queue.filter((entry) => typeof entry !== 'string').length;
  }

  say(sound: Uint8Array): void {
    this.#saying = sound;
  }

  press(digit: string): void {
    this.#tell({ event: 'DTMF_END', channel_id: '1', digit });
  }

  hangUp(): void {
    this.#socket.close();
  }

  /** While it is muted no sound of the caller comes, as of a line on hold. */
  mute(isMuted: boolean): void {
    this.#isMuted = isMuted;
  }

  #tell(event: object): void {
    this.#socket.send(JSON.stringify(event));
  }

  #enqueue(data: Buffer): void {
    const whole = data.length - (data.length % FRAME_BYTES);
    for (let at = 0; at < whole; at += FRAME_BYTES) {
      this.#queue.push(Uint8Array.from(data.subarray(at, at + FRAME_BYTES)));
    }
    this.droppedBytes += data.length - whole;
  }

  #obey({ command, correlation_id = '' }: { command: string; correlation_id?: string }): void {
    this.commands.push(command);
    if (command === 'MARK_MEDIA') this.#queue.push(correlation_id);
    // Marks are dropped with the sound, and not told.
    if (command === 'FLUSH_MEDIA') this.#queue = [];
    if (command === 'HANGUP') this.#socket.close();
  }

  #step(): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    while (typeof this.#queue[0] === 'string') {
      const correlation_id = this.#queue.shift() as string;
      this.marksPassed.push(correlation_id);
      this.#tell({ event: 'MEDIA_MARK_PROCESSED', correlation_id });
    }
    const frame = this.#queue.shift();
    if (frame instanceof Uint8Array) this.played.push(frame);
    if (this.#isMuted) return;
    const said = new Uint8Array(SILENCE);
    said.set(this.#saying.subarray(0, FRAME_BYTES));
    this.#saying = this.#saying.subarray(FRAME_BYTES);
    this.#socket.send(said);
  }
}
