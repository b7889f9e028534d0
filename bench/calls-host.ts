import { HEARING_HZ } from '../media/hearing.ts';
import { Resampler } from '../media/resample.ts';
import type { GuideEngine, TtsEngine } from '../src/engines/engine.ts';
import { loadSpeechGates } from '../src/engines/vad/fvad-gate.ts';
import { loadUws } from '../src/http/server/uws.ts';
import type { AnySocket, SocketHandler } from '../src/http/websocket/socket-route.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { favourMedia } from '../src/kernel/favour-media.ts';
import { createRealtimeSocket } from '../src/sockets/realtime.ts';
import { startEdge } from '../test/support/edge.ts';
import { createFakeEngines, tone } from '../test/support/voice-fakes.ts';
import { createVoiceWorld } from '../test/support/voice-world.ts';
import { agedMicros } from './frame-stamp.ts';
import { ownAgents } from './relays.ts';

/**
 * A server of calls, in a process and on a core of its own: the real edge and real sessions over engines that answer at
 * once and a ledger in memory, or a socket that sends every message back. The bench asks by message: `lateness`,
 * `forgetLateness`, `windows`, `resampling`.
 */
export type CallsHostOrder = {
  readonly kind: 'bare' | 'live';
  readonly sessions: number;
  /** Whether it looks how late each frame is. */
  readonly isTimed: boolean;
  /** What counts as late. */
  readonly lateMs: number;
};

/** How long frames took from their client's `send` until they were worked off. */
export type Lateness = Readonly<Record<'frames' | 'late' | 'p50Ms' | 'p99Ms' | 'mostMs', number>>;

const CREDIT_RAW = 1_000_000_000n;
const RESAMPLED_FRAMES = 50_000;
/** How many frames are looked at: of 600 callers for half a minute. */
const MOST_TIMED = 1_000_000;

process.on('disconnect', () => process.exit(0));
favourMedia();

const order = JSON.parse(process.argv[2] ?? '{}') as CallsHostOrder;
/** Outside the heap, and as large from the beginning: what is measured must not collect its measurements. */
const micros = new Int32Array(order.isTimed ? MOST_TIMED : 0);
let timed = 0;

function workedOff(event: Uint8Array): void {
  const aged = agedMicros(event);
  if (aged !== undefined && timed < micros.length) micros[timed++] = aged;
}

function lateness(): Lateness {
  const sorted = micros.subarray(0, timed).sort();
  const ms = (place: number) => (sorted[Math.floor(place)] ?? Number.NaN) / 1_000;
  const early = sorted.findIndex((each) => each > order.lateMs * 1_000);
  return {
    frames: timed,
    late: early < 0 ? 0 : timed - early,
    p50Ms: ms(timed / 2),
    p99Ms: ms(timed * 0.99),
    mostMs: ms(timed - 1),
  };
}

/** Tells how many frames are forgotten. */
function forgetLateness(): number {
  const forgotten = timed;
  timed = 0;
  return forgotten;
}

/** Two sentences, which are spoken for a second each: agents speak about as much as their callers. */
const guide: GuideEngine = {
  async reply() {
    const text = 'You were heard well and this is one second. This is the other one.';
    return { text, usage: { inputTokens: 10, outputTokens: 15 } };
  },
};

/** At the rate of the line: what remains to be resampled is what callers say. */
const SECOND = tone(1_000, 8_000);

const voice: TtsEngine = {
  async *speak({ text }) {
    for (const sentence of text.match(/[^.]+\./g) ?? []) {
      yield { text: sentence.trim(), sampleRateHz: 8_000, pcm: SECOND };
    }
  },
};

let windows = 0;

/** Loud is speech. It counts how often the model would have been asked. */
const vad = {
  open: async () => ({
    async probability(window: Int16Array) {
      windows++;
      let peak = 0;
      for (let i = 0; i < window.length; i++) peak = Math.max(peak, window[i] as number);
      return peak > 1_000 ? 0.9 : 0.02;
    },
    close() {},
  }),
};

async function openLive({ isTimed, sessions }: CallsHostOrder): Promise<number> {
  const engines = { ...createFakeEngines(), guide, vad, tts: { flite: voice } };
  engines.stt.pocketsphinx.places = sessions;
  const { deps, ledger } = await createVoiceWorld({
    ...{ clock: systemClock, creditRaw: CREDIT_RAW },
    change: { engines, speechGates: await loadSpeechGates() },
  });
  for (let agentId = 1; agentId <= sessions; agentId++) {
    await ledger.credit({ agentId, amountRaw: CREDIT_RAW, reference: `bench ${agentId}` });
  }
  const socket: AnySocket = createRealtimeSocket(deps);
  const timed: AnySocket = {
    ...socket,
    open: async (context) => timedHandler(await socket.open(context)),
  };
  const sockets = [isTimed ? timed : socket];
  return (await startEdge({ sockets, credentials: ownAgents })).port;
}

const timedHandler = (handler: SocketHandler): SocketHandler => ({
  opened: (connection) => handler.opened(connection),
  message: (data) => handler.message(data),
  frame(bytes, isBinary) {
    handler.frame?.(bytes, isBinary);
    workedOff(bytes);
  },
  drained: () => handler.drained?.(),
  draining: () => handler.draining?.(),
  closed: (code, reason) => handler.closed(code, reason),
});

async function openBare({ isTimed }: CallsHostOrder): Promise<number> {
  const uws = loadUws();
  const app = uws.App().ws('/v1/realtime', {
    maxPayloadLength: 1024 * 1024,
    maxBackpressure: 1024 * 1024,
    message(client, data, isBinary) {
      client.send(data, isBinary);
      if (isTimed) workedOff(new Uint8Array(data));
    },
  });
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(uws.us_socket_local_port(socket as never)));
  });
}

/** Microseconds of CPU for 20 ms of a line's sound on its way to being heard, of all lines by turns as in their calls. */
function resampling(): number {
  const lines = Array.from({ length: order.sessions }, () => new Resampler(8_000, HEARING_HZ));
  const frame = SECOND.subarray(0, 160);
  const target = new Int16Array(2 * frame.length + 1);
  const run = () => {
    for (let i = 0; i < RESAMPLED_FRAMES; i++) lines[i % lines.length]?.push(frame, target);
  };
  run();
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / RESAMPLED_FRAMES;
}

const ANSWERS: Readonly<Record<string, () => unknown>> = {
  lateness,
  forgetLateness,
  windows: () => windows,
  resampling,
};

process.on('message', (question) => process.send?.(ANSWERS[String(question)]?.()));

const port = await (order.kind === 'bare' ? openBare(order) : openLive(order));
process.send?.({ port });
