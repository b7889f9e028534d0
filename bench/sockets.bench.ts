import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import WebSocket from 'ws';
import { ENGINE_LIMITS } from '../src/engines/limits.ts';
import { resultOf } from '../test/support/listen-upstream.ts';
import { nextMessage } from '../test/support/next-message.ts';
import { usageOf } from '../test/support/realtime-upstream.ts';
import { LIBRIVOX, loadRecording } from '../test/support/speech.ts';
import { bytesOf, tone } from '../test/support/voice-fakes.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { openLiveUpstream } from './live-upstream.ts';
import { PEER } from './relays.ts';
import type { HostReport } from './sockets-host.ts';

const HOST = new URL('./sockets-host.ts', import.meta.url);
const SESSIONS = 500;
const WARM_SESSIONS = 200;
const BAR_KB = 100;
const LOOP_MS = 8_000;

/** What a live session costs in memory, and what saturated engines cost the event loop. */
export async function benchSockets(): Promise<BenchRow[]> {
  return [...(await benchMemory()), ...(await benchLoop())];
}

/** One kind of live session, and what a turn of it is. */
type Kind = {
  readonly what: string;
  readonly path: string;
  readonly turn: (socket: WebSocket) => void;
};

const TALK = '/v1/realtime?model=';
const HEAR = '/v1/audio/transcriptions/stream?model=';

const KINDS: readonly Kind[] = [
  { what: 'realtime session', path: `${TALK}local/realtime`, turn: speakOnce },
  { what: 'transcription', path: `${HEAR}local/pocketsphinx`, turn: sayOnce },
  { what: 'relayed realtime session', path: `${TALK}${PEER.talks}`, turn: askOnce },
  { what: 'relayed transcription', path: `${HEAR}${PEER.hears}`, turn: sayOnce },
];

async function benchMemory(): Promise<BenchRow[]> {
  using upstream = await openLiveUpstream(answerAsBoth);
  const rows: BenchRow[] = [];
  for (const kind of KINDS) rows.push(...(await benchKind(kind, upstream.port)));
  return rows;
}

async function benchKind({ path, turn, what }: Kind, upstreamPort: number): Promise<BenchRow[]> {
  const host = await startHost('sessions', upstreamPort);
  try {
    // The first sessions pay for compiled code and grown pools, which later ones share.
    const warm = await openSessions(host.port, path, WARM_SESSIONS, 0);
    for (const socket of warm) turn(socket);
    await pause(1_000);
    for (const socket of warm) socket.close();
    await pause(2_000);
    const empty = await host.ask('memory');
    const sockets = await openSessions(host.port, path, SESSIONS, WARM_SESSIONS);
    const idle = await host.ask('memory');
    for (const socket of sockets) turn(socket);
    await pause(3_000);
    const spoken = await host.ask('memory');
    for (const socket of sockets) socket.close();
    const each = (of: 'heapBytes' | 'rssBytes', after: HostReport) =>
      ((after[of] ?? 0) - (empty[of] ?? 0)) / SESSIONS / 1_024;
    const row = (when: string, of: 'heapBytes' | 'rssBytes', after: HostReport) => {
      const value = each(of, after);
      const note = `${SESSIONS} sessions, bar ${BAR_KB} KB: ${verdict(value <= BAR_KB)}`;
      const which = of === 'heapBytes' ? 'heap and buffers' : 'resident';
      return benchRow('P8', `${what} ${when}, ${which}`, value, 'KB', note);
    };
    return [
      row('at rest', 'heapBytes', idle),
      row('at rest', 'rssBytes', idle),
      row('after a turn', 'heapBytes', spoken),
      row('after a turn', 'rssBytes', spoken),
    ];
  } finally {
    host.end();
  }
}

/** An upstream of either protocol: a turn where one is asked for, and words where there is sound. */
function answerAsBoth(frame: Buffer, isBinary: boolean): string[] {
  if (isBinary) {
    return [false, true].map((final) => JSON.stringify(resultOf(1.6, { is_final: final })));
  }
  if (!frame.includes('response.create')) return [];
  const delta = 'A'.repeat(1_280);
  return [
    { type: 'response.created', response: { id: 'resp_1' } },
    ...Array.from({ length: 50 }, () => ({ type: 'response.output_audio.delta', delta })),
    { type: 'response.done', response: { id: 'resp_1', usage: usageOf({ audioOut: 20 }) } },
  ].map((event) => JSON.stringify(event));
}

async function benchLoop(): Promise<BenchRow[]> {
  const host = await startHost('engines');
  try {
    const query = 'model=local/pocketsphinx';
    const sockets = await Promise.all(
      Array.from({ length: ENGINE_LIMITS.decoder.most }, (_, i) =>
        connect(host.port, `/v1/audio/transcriptions/stream?${query}`, i + 1),
      ),
    );
    const idle = await host.ask(`loop ${LOOP_MS}`);
    const sound = LIBRIVOX.map(({ file }) => bytesOf(loadRecording(file)));
    // Well ahead of real time, so that no decoder waits for sound: about 100 s for each.
    for (const socket of sockets) {
      for (let i = 0; i < 4; i++) for (const bytes of sound) socket.send(bytes);
    }
    await host.tell('spend');
    await pause(1_000);
    const busy = await host.ask(`loop ${LOOP_MS}`);
    for (const socket of sockets) socket.terminate();
    const idleMs = idle.loopP99Ms ?? 0;
    const busyMs = busy.loopP99Ms ?? 0;
    const perSecond = ((busy.operations ?? 0) / LOOP_MS) * 1_000;
    return [
      benchRow('loop', 'event-loop delay at rest, p99', idleMs, 'ms'),
      benchRow(
        'loop',
        'event-loop delay, decoders and writer saturated, p99',
        busyMs,
        'ms',
        `${sockets.length} streams, ${Math.round(perSecond)} ledger operations a second`,
      ),
      benchRow('loop', 'added by saturation', busyMs - idleMs, 'ms', 'bar 10 ms'),
    ];
  } finally {
    host.end();
  }
}

async function startHost(kind: 'sessions' | 'engines', upstreamPort = 0) {
  const child: ChildProcess = fork(HOST, [kind, String(upstreamPort)], {
    execArgv: ['--expose-gc', '--import', 'tsx'],
  });
  const heard = () => nextMessage<HostReport>(child);
  const { port = 0 } = await heard();
  return {
    port,
    ask(question: string) {
      const answer = heard();
      child.send(question);
      return answer;
    },
    async tell(order: string) {
      child.send(order);
    },
    end: () => child.send('end'),
  };
}

async function connect(port: number, path: string, agentId: number): Promise<WebSocket> {
  const headers = { authorization: `Bearer svc_${agentId}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, {
    headers,
    perMessageDeflate: false,
  });
  socket.on('error', () => {});
  await once(socket, 'open');
  return socket;
}

/** Each from an agent of its own, some at a time. */
async function openSessions(
  port: number,
  path: string,
  count: number,
  from: number,
): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(50, count - sockets.length) }, (_, i) =>
      connect(port, path, from + sockets.length + i + 1),
    );
    sockets.push(...(await Promise.all(batch)));
  }
  return sockets;
}

/** One utterance with its silence: the session hears, answers and is at rest again. */
function speakOnce(socket: WebSocket): void {
  const sound = tone(600, 24_000);
  for (const pcm of [sound, new Int16Array(24_000)]) {
    const audio = Buffer.from(bytesOf(pcm)).toString('base64');
    socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio }));
  }
}

/** The same where bytes are sound. */
function sayOnce(socket: WebSocket): void {
  for (const pcm of [tone(600, 16_000), new Int16Array(16_000)]) socket.send(bytesOf(pcm));
}

function askOnce(socket: WebSocket): void {
  speakOnce(socket);
  socket.send('{"type":"response.create"}');
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
