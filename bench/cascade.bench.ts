import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import WebSocket from 'ws';
import { loadUws } from '../src/http/server/uws.ts';
import { compiled } from '../test/support/compiled.ts';
import { nextMessage } from '../test/support/next-message.ts';
import { DONE, usageEvent, wordEvents } from '../test/support/stream-upstream.ts';
import { bytesOf, silence, tone } from '../test/support/voice-fakes.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import type { CascadeHostOrder } from './cascade-host.ts';
import { canPin, nodeUnderTest, stayBeside } from './cores.ts';
import { processCpu } from './cpu.ts';
import { at, median } from './quantile.ts';

const SESSIONS = 200;
/** Each session has a turn so often. */
const TURN_MS = 5_000;
/** Code that has run so often is compiled; a server has been up for longer. */
const WARM_UP_ROUNDS = 10;
const ROUNDS = 3;
const BARS = { p50Ms: 10, p99Ms: 25 };
const RATE = 24_000;
const FRAME_MS = 100;
const FRAMES = 10;

const append = (pcm: Int16Array) =>
  JSON.stringify({
    type: 'input_audio_buffer.append',
    audio: Buffer.from(bytesOf(pcm)).toString('base64'),
  });
const SPEECH = append(tone(FRAME_MS, RATE));
/** More than what proves the end of a turn. */
const SILENCE = append(silence(600, RATE));

/**
 * From the end of speech to the first sound of the answer, where an upstream hears, thinks and speaks in no time: what
 * is left is ours, three requests over loopback included.
 */
export async function benchCascade(): Promise<BenchRow[]> {
  using _beside = stayBeside();
  using upstream = await openUpstream();
  const host = await openHost({ upstreamPort: upstream.port, sessions: SESSIONS });
  await host.converse(WARM_UP_ROUNDS);
  const cpuBefore = host.cpu();
  const waitedMs = await host.converse(ROUNDS);
  const cpuMicros = host.cpu() - cpuBefore;
  await host.end();
  const alone = await askAlone(upstream.port);
  const turns = ROUNDS * SESSIONS;
  const p50Ms = median(waitedMs);
  const p99Ms = at(waitedMs, 0.99);
  const load = `${SESSIONS} sessions, a turn each ${TURN_MS / 1_000} s${canPin ? '' : '; not pinned'}`;
  const barOf = (value: number, bar: number) => `≤ ${bar}: ${verdict(value <= bar)}; ${load}`;
  const floor = `the requests of a turn by themselves: p99 ${at(alone, 0.99).toFixed(1)} ms`;
  return [
    benchRow('P10', 'its three requests alone, p50', median(alone), 'ms', floor),
    benchRow('P10', 'end of speech to first sound, p50', p50Ms, 'ms', barOf(p50Ms, BARS.p50Ms)),
    benchRow('P10', 'end of speech to first sound, p99', p99Ms, 'ms', barOf(p99Ms, BARS.p99Ms)),
    benchRow('P10', 'CPU a turn, a second heard and the answer', cpuMicros / turns / 1_000, 'ms'),
    benchRow('P10', 'turns lost', turns - waitedMs.length, '', verdict(waitedMs.length === turns)),
  ];
}

const PATHS = ['/v1/audio/transcriptions', '/v1/chat/completions', '/v1/audio/speech'] as const;

/** How long the machine takes over the three requests of a turn with nothing of ours between them. */
async function askAlone(port: number): Promise<readonly number[]> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: SESSIONS });
  const tookMs: number[] = [];
  const startMs = performance.now();
  const rounds = Array.from({ length: SESSIONS }, async (_, index) => {
    await until(startMs + (index * TURN_MS) / SESSIONS);
    const beganMs = performance.now();
    for (const path of PATHS) {
      const { body } = await pool.request({ path, method: 'POST', body: '{}' });
      await body.arrayBuffer();
    }
    tookMs.push(performance.now() - beganMs);
  });
  await Promise.all(rounds);
  await pool.close();
  return tookMs;
}

/** Hears, thinks and speaks at once. */
async function openUpstream(): Promise<Disposable & { readonly port: number }> {
  const uws = loadUws();
  const usage = { prompt_tokens: 10, completion_tokens: 6, total_tokens: 16 };
  const chat = [...wordEvents(['Good day. ', 'All is well.']), usageEvent(usage), DONE].join('');
  const heard = JSON.stringify({ text: 'how are you', usage: { type: 'duration', seconds: 2 } });
  const answers: readonly [path: string, type: string, body: string | Uint8Array][] = [
    ['/v1/chat/completions', 'text/event-stream', chat],
    ['/v1/audio/speech', 'audio/pcm', bytesOf(tone(300, RATE))],
    ['/v1/audio/transcriptions', 'application/json', heard],
  ];
  const app = uws.App();
  for (const [path, type, body] of answers) {
    app.post(path, (response) => {
      response.onAborted(() => {});
      response.onData((_, isLast) => {
        if (isLast) response.cork(() => response.writeHeader('content-type', type).end(body));
      });
    });
  }
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) =>
      resolve({
        port: uws.us_socket_local_port(socket as never),
        [Symbol.dispose]: () => uws.us_listen_socket_close(socket as never),
      }),
    );
  });
}

/** One caller: it speaks for a second, and waits for the answer. */
class Caller {
  readonly #ws: WebSocket;
  readonly #waitedMs: (ms: number) => void;
  #endedAtMs: number | undefined;

  constructor(ws: WebSocket, waitedMs: (ms: number) => void) {
    this.#ws = ws;
    this.#waitedMs = waitedMs;
    ws.on('message', (data: Buffer) => {
      if (this.#endedAtMs === undefined || !data.includes('"response.output_audio.delta"')) return;
      this.#waitedMs(performance.now() - this.#endedAtMs);
      this.#endedAtMs = undefined;
    });
  }

  speak(): void {
    this.#ws.send(SPEECH);
  }

  stop(): void {
    this.#endedAtMs = performance.now();
    this.#ws.send(SILENCE);
  }
}

async function openHost(order: CascadeHostOrder) {
  const [command, options] = nodeUnderTest();
  const module = compiled('bench/cascade-host.ts');
  const child = fork(module, [JSON.stringify(order)], { execPath: command, execArgv: options });
  const { port } = await nextMessage<{ port: number }>(child);
  const sockets: WebSocket[] = [];
  let waited: number[] = [];
  for (let agent = 1; agent <= order.sessions; agent++) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime?model=peer/talker`, {
      headers: { authorization: `Bearer svc_${agent}` },
      perMessageDeflate: false,
      skipUTF8Validation: true,
    });
    await once(socket, 'open');
    sockets.push(socket);
  }
  const callers = sockets.map((socket) => new Caller(socket, (ms) => waited.push(ms)));

  return {
    cpu: () => processCpu(child.pid ?? 0),
    /** Every caller speaks so often, each at a time of its own. */
    async converse(rounds: number): Promise<readonly number[]> {
      waited = [];
      const startMs = performance.now();
      const turns = callers.flatMap((caller, index) =>
        Array.from({ length: rounds }, async (_, round) => {
          const beginMs = startMs + round * TURN_MS + (index * TURN_MS) / callers.length;
          for (let frame = 0; frame < FRAMES; frame++) {
            await until(beginMs + frame * FRAME_MS);
            caller.speak();
          }
          await until(beginMs + FRAMES * FRAME_MS);
          caller.stop();
        }),
      );
      await Promise.all(turns);
      const deadlineMs = performance.now() + 5_000;
      while (waited.length < turns.length && performance.now() < deadlineMs) {
        await until(performance.now() + 20);
      }
      return waited;
    },
    async end(): Promise<void> {
      for (const socket of sockets) socket.terminate();
      child.kill();
      await once(child, 'exit');
    },
  };
}

const until = (atMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - performance.now())));
