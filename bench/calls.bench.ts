import { loadavg } from 'node:os';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { CYCLE_FRAMES, callersSound, FRAME_MS, SPEECH_FRAMES } from './callers-sound.ts';
import type { CallsHostOrder } from './calls-host.ts';
import { canPin, stayBeside, UNDER_TEST } from './cores.ts';
import { stolenMs } from './cpu.ts';
import { realtimeStamp } from './frame-stamp.ts';
import type { Lateness } from './lateness.ts';
import { openClients, startHost, takeTurns } from './live-clients.ts';

const KINDS = ['bare', 'live'] as const;
const ROUNDS = 3;
const ROUND_MS = 3_500;
const CALLS = 300;
const MANY_CALLS = 600;
/** Code that has run so often is compiled; a server has been up for longer. */
const MANY_WARM_MS = 12_000;
/** Long enough that in some runs the whole heap is collected meanwhile. */
const MANY_MS = 14_000;
const BAR = 2.5;
const LATE_MS = 40;
/** After the last frame: what is still to be heard, answered and billed. */
const REST_MS = 300;

type Kind = CallsHostOrder['kind'];
type Calls = Awaited<ReturnType<typeof openCalls>>;
type Each<T> = Readonly<Record<Kind, T>>;

/**
 * P4: what 20 ms of a caller's sound cost of the server's CPU as a live session hears and answers them, beside a socket
 * that sends the same messages back; and how late frames are of twice as many callers. A caller's sound is two seconds of
 * recorded speech in mu-law and three of a hissing line, everyone at another place of it.
 */
export async function benchCalls(): Promise<BenchRow[]> {
  using _beside = stayBeside();
  return [...(await benchCpu()), ...(await benchLateness())];
}

async function benchCpu(): Promise<BenchRow[]> {
  const calls = await openBoth({ sessions: CALLS, isTimed: false, lateMs: LATE_MS });
  const cpu = { bare: 0, live: 0 };
  const frames = { bare: 0, live: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of KINDS) {
      const before = calls[kind].host.cpu();
      const sent = await calls[kind].talk(ROUND_MS);
      // The first warms up.
      if (round === 0) continue;
      frames[kind] += sent;
      cpu[kind] += calls[kind].host.cpu() - before;
    }
  }
  const { host, heard } = calls.live;
  const resampling = await host.ask<number>('resampling');
  const windows = await host.ask<number>('windows');
  // A call that begins in the middle of speech may not be recognised the first time.
  const wholeFrames = (ROUNDS * ROUND_MS) / FRAME_MS - SPEECH_FRAMES;
  const turns = CALLS * Math.floor(wholeFrames / CYCLE_FRAMES);
  const isWell = heard.answers >= turns && heard.errors === 0;
  const ended = await endBoth(calls);

  const [bare, live] = [cpu.bare / frames.bare, cpu.live / frames.live];
  const ratio = (live - resampling) / bare;
  const row = (what: string, value: number, unit: string, note?: string) =>
    benchRow('P4', `${CALLS} calls: ${what}`, value, unit, note);
  return [
    row('bare echo, CPU a frame', bare, 'µs', machine()),
    row('live, CPU a frame', live, 'µs'),
    row('of which resampling 8 to 16 kHz', resampling, 'µs'),
    row('live without resampling over bare', ratio, '×', `≤ ${BAR}: ${verdict(ratio <= BAR)}`),
    row('live, all of it, over bare', live / bare, '×'),
    row('windows for Silero, a second', windows / ((ROUNDS * ROUND_MS) / 1_000), ''),
    row('answers', heard.answers, '', `≥ ${turns}: ${verdict(isWell)}, ${ended} sessions cut`),
  ];
}

async function benchLateness(): Promise<BenchRow[]> {
  const calls = await openBoth({ sessions: MANY_CALLS, isTimed: true, lateMs: LATE_MS });
  const rows: BenchRow[] = [];
  for (const kind of KINDS) {
    const { heard, host, talk } = calls[kind];
    await talk(MANY_WARM_MS);
    await host.ask('forgetLateness');
    const answersBefore = heard.answers;
    const [beforeMicros, beforeMs] = [host.cpu(), performance.now()];
    const stolenBefore = stolenMs(UNDER_TEST);
    await talk(MANY_MS);
    const stolen = stolenMs(UNDER_TEST) - stolenBefore;
    const busy = (host.cpu() - beforeMicros) / 10 / (performance.now() - beforeMs - REST_MS);
    const { frames, late, mostMs, p50Ms, p99Ms } = await host.ask<Lateness>('lateness');
    const row = (what: string, value: number, unit: string, note?: string) =>
      benchRow('P4', `${MANY_CALLS} calls: ${kind}, ${what}`, value, unit, note);
    // Of each 100 frames of theirs 40 are speech, and end at some time of five seconds.
    const answers = heard.answers - answersBefore;
    const isHeard = kind === 'bare' || (answers >= MANY_CALLS / 2 && heard.errors === 0);
    const bar = kind === 'live' ? `0: ${verdict(late === 0 && isHeard)}, ${answers} answers` : '';
    rows.push(
      row('of its core', busy, '%', machine()),
      row('a frame worked off, p50', p50Ms, 'ms'),
      row('p99', p99Ms, 'ms'),
      row('the latest', mostMs, 'ms', `${stolen} ms of its core went to other guests`),
      row(`frames over ${LATE_MS} ms`, late, '', [bar, `of ${frames}`].filter(Boolean).join(', ')),
    );
  }
  await endBoth(calls);
  return rows;
}

const machine = (): string =>
  [`load ${loadavg()[0]?.toFixed(1)}`, canPin ? '' : 'not pinned'].filter(Boolean).join(', ');

async function openBoth(order: Omit<CallsHostOrder, 'kind'>): Promise<Each<Calls>> {
  return {
    bare: await openCalls({ kind: 'bare', ...order }),
    live: await openCalls({ kind: 'live', ...order }),
  };
}

async function endBoth(calls: Each<Calls>): Promise<number> {
  let ended = 0;
  for (const kind of KINDS) {
    ended += calls[kind].clients.ended();
    calls[kind].clients.close();
    await calls[kind].host.end();
  }
  return ended;
}

const LINE = { format: { type: 'audio/pcmu' } };

const SETUP = JSON.stringify({
  type: 'session.update',
  session: { type: 'realtime', audio: { input: LINE, output: LINE } },
});

async function openCalls(order: CallsHostOrder) {
  const { kind, sessions } = order;
  const host = await startHost('calls-host', order);
  const heard = { answers: 0, errors: 0 };
  const clients = await openClients({
    port: host.port,
    model: 'local/realtime',
    sessions,
    heard: (message) => {
      if (kind === 'bare') return;
      if (message.includes('"response.done"')) heard.answers++;
      if (message.includes('"type":"error"')) heard.errors++;
    },
  });
  if (kind === 'live') for (const socket of clients.sockets) socket.send(SETUP);
  const sound = callersSound().map(
    (audio) => `","type":"input_audio_buffer.append","audio":"${audio}"}`,
  );
  /** Where everyone is; far from their neighbours. */
  const places = Uint32Array.from({ length: sessions }, (_, i) => (i * 97) % CYCLE_FRAMES);
  return {
    host,
    clients,
    heard,
    /** All callers send their sound for so long; what follows from it is awaited. */
    async talk(forMs: number): Promise<number> {
      const sent = await takeTurns({ sessions, frameMs: FRAME_MS, forMs }, (session) => {
        const place = places[session] as number;
        places[session] = (place + 1) % CYCLE_FRAMES;
        clients.sockets[session]?.send(realtimeStamp.stamped(sound[place] as string), {
          binary: false,
        });
      });
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      return sent;
    },
  };
}
