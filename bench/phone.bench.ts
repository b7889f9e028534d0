import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseTarget, Sql } from '../src/platform/postgres/sql.ts';
import { withDatabase } from './bench-database.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { CYCLE_FRAMES, callersSound, FRAME_MS, SPEECH_FRAMES } from './callers-sound.ts';
import { canPin, stayBeside, UNDER_TEST } from './cores.ts';
import { stolenMs } from './cpu.ts';
import type { Lateness } from './lateness.ts';
import { takeTurns } from './live-clients.ts';
import { type Caller, openCallers } from './phone-callers.ts';
import type { PhoneHostOrder } from './phone-order.ts';
import { at as quantile } from './quantile.ts';

const KINDS = ['bare', 'live'] as const;
type Kind = (typeof KINDS)[number];

const ROUNDS = 16;
/** In which V8 compiles what calls do again and again: a turn runs once in seconds, and its code is still compiled after 30. */
const WARM_ROUNDS = 8;
const ROUND_MS = 5_000;
const CALLS = 300;
const BAR = 2.2;
const MANY_CALLS = 600;
const MANY_WARM_MS = 12_000;
const MANY_MS = 10_000;
const LATE_MS = 40;
const LATENESS_RUNS = 10;
/** In which no frame may be late. */
const LATENESS_BAR = 9;
const ANSWERING_CALLS = 200;
const ANSWERING_MS = 30_000;
const SHARE_BAR_MS = { p50: 10, p99: 25 } as const;
/** After the last frame: what is still to be heard, answered and billed. */
const REST_MS = 300;
/** An answer of the bench's engines. */
const ANSWER_MS = 2_000;

/**
 * P4 through the socket of a carrier: the CPU of 20 ms of a caller's sound in a live call beside a socket that sends the
 * same messages back; how late frames are of twice as many calls; and how soon the first frame of an answer leaves after
 * the frame that ends the caller's turn.
 */
export async function benchPhone(): Promise<BenchRow[]> {
  using _beside = stayBeside();
  return withDatabase(async (sql, target) => [
    ...(await benchCpu(sql, target)),
    ...(await benchShare(sql, target)),
    ...(await benchLateness(sql, target)),
  ]);
}

async function benchCpu(sql: Sql, target: DatabaseTarget): Promise<BenchRow[]> {
  const order = { calls: CALLS, isTimed: false, target };
  const lines = {
    bare: await openLines(sql, { kind: 'bare', ...order }),
    live: await openLines(sql, { kind: 'live', ...order }),
  };
  const cpu = { bare: 0, live: 0 };
  const frames = { bare: 0, live: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of KINDS) {
      const before = lines[kind].host.cpu();
      const sent = await lines[kind].talk(ROUND_MS);
      if (round < WARM_ROUNDS) continue;
      frames[kind] += sent;
      cpu[kind] += lines[kind].host.cpu() - before;
    }
  }
  const heardMs = lines.live.heardMs();
  const lost = lines.live.lost();
  for (const kind of KINDS) await lines[kind].close();
  // A caller who begins in mid-speech may not be answered in the first of its cycles.
  const cycles = Math.floor((ROUNDS * ROUND_MS) / FRAME_MS / CYCLE_FRAMES) - 1;
  const isHeard = heardMs >= 0.95 * CALLS * cycles * ANSWER_MS && lost === 0;
  const [bare, live] = [cpu.bare / frames.bare, cpu.live / frames.live];
  const ratio = live / bare;
  const row = (what: string, value: number, unit: string, note?: string) =>
    benchRow('P4', `${CALLS} phone calls: ${what}`, value, unit, note);
  return [
    row('bare echo, CPU a frame', bare, 'µs', machine()),
    row('live, CPU a frame', live, 'µs'),
    row('live over bare', ratio, '×', `≤ ${BAR}: ${verdict(ratio <= BAR && isHeard)}`),
    row('sound of answers', heardMs / 1_000, 's', `${lost} calls lost`),
  ];
}

async function benchLateness(sql: Sql, target: DatabaseTarget): Promise<BenchRow[]> {
  const lines = await openLines(sql, { kind: 'live', calls: MANY_CALLS, isTimed: true, target });
  const { host, talk } = lines;
  await talk(MANY_WARM_MS);
  const runs: (Lateness & { readonly stolenMs: number })[] = [];
  const [beforeMicros, beforeMs] = [host.cpu(), performance.now()];
  for (let run = 0; run < LATENESS_RUNS; run++) {
    await host.ask('forgetLateness');
    const stolenBefore = stolenMs(UNDER_TEST);
    await talk(MANY_MS);
    const figures = await host.ask<Lateness>('lateness');
    runs.push({ ...figures, stolenMs: stolenMs(UNDER_TEST) - stolenBefore });
  }
  const busy = (host.cpu() - beforeMicros) / 10 / (performance.now() - beforeMs);
  const lost = lines.lost();
  await lines.close();
  const good = runs.filter(({ late }) => late === 0).length;
  const worst = runs.reduce((a, b) => (b.mostMs > a.mostMs ? b : a));
  const row = (what: string, value: number, unit: string, note?: string) =>
    benchRow('P4', `${MANY_CALLS} phone calls: ${what}`, value, unit, note);
  const isHeld = good >= LATENESS_BAR && lost === 0;
  const median = (of: (run: Lateness) => number) => quantile(runs.map(of), 0.5);
  return [
    row('of its core', busy, '%', machine()),
    row(
      'a frame worked off, p50',
      median(({ p50Ms }) => p50Ms),
      'ms',
    ),
    row(
      'p99',
      median(({ p99Ms }) => p99Ms),
      'ms',
    ),
    row(
      `runs of ${LATENESS_RUNS} with no frame over ${LATE_MS} ms`,
      ...([good, '', `≥ ${LATENESS_BAR}: ${verdict(isHeld)}, ${lost} calls lost`] as const),
    ),
    row(
      'the latest frame of the worst run',
      ...([worst.mostMs, 'ms'] as const),
      `${worst.late} of ${worst.frames} late, ${worst.stolenMs} ms of its core went to other guests`,
    ),
  ];
}

/** All callers say the same at different times, so that the same frame of each cycle ends the turn. */
async function benchShare(sql: Sql, target: DatabaseTarget): Promise<BenchRow[]> {
  const alone = await openLines(sql, { kind: 'live', calls: 1, isTimed: false, target });
  const ends = await alone.turnEnds();
  await alone.close();
  const lines = await openLines(sql, {
    kind: 'live',
    calls: ANSWERING_CALLS,
    isTimed: false,
    target,
  });
  await lines.talk(MANY_WARM_MS);
  const delays = await lines.delaysAfter(ends, ANSWERING_MS);
  await lines.close();
  const row = (what: string, value: number, unit: string, note?: string) =>
    benchRow('P4', `${ANSWERING_CALLS} phone calls: ${what}`, value, unit, note);
  const [p50, p99] = [quantile(delays, 0.5), quantile(delays, 0.99)];
  const bar = (ms: number, most: number) => `≤ ${most} ms: ${verdict(ms <= most)}`;
  return [
    row('silence that ends a turn', (ends - SPEECH_FRAMES + 1) * FRAME_MS, 'ms', machine()),
    row('then to the first frame of the answer, p50', p50, 'ms', bar(p50, SHARE_BAR_MS.p50)),
    row('p99', p99, 'ms', `${bar(p99, SHARE_BAR_MS.p99)}, ${delays.length} answers`),
  ];
}

const machine = (): string =>
  [`load ${loadavg()[0]?.toFixed(1)}`, canPin ? '' : 'not pinned'].filter(Boolean).join(', ');

type LinesOrder = Omit<PhoneHostOrder, 'engines' | 'lateMs'> & { readonly kind: Kind };

async function openLines(sql: Sql, order: LinesOrder) {
  const { calls } = order;
  const opened = await openCallers(sql, { ...order, engines: 'prompt', lateMs: LATE_MS });
  const { callers } = opened;
  const sound = callersSound();
  /** Where everyone is; far from their neighbours. Each caller begins with a whole speech. */
  const places = Int32Array.from({ length: calls }, (_, i) => -((i * 97) % CYCLE_FRAMES));
  const speak = (at: number): { readonly place: number; readonly sentMs: number } => {
    const place = places[at] as number;
    places[at] = (place + 1) % CYCLE_FRAMES;
    const hiss = sound[SPEECH_FRAMES] as string;
    const payload = place < 0 ? hiss : (sound[place] as string);
    return { place, sentMs: (callers[at] as Caller).say(payload) };
  };
  const talk = async (forMs: number, said?: (at: number, place: number, ms: number) => void) => {
    const sent = await takeTurns({ sessions: calls, frameMs: FRAME_MS, forMs }, (at) => {
      const { place, sentMs } = speak(at);
      said?.(at, place, sentMs);
    });
    await delay(REST_MS);
    return sent;
  };
  return {
    ...opened,
    talk,
    heardMs: () => callers.reduce((sum, { heard }) => sum + heard.ms, 0),
    /** The place in a cycle whose frame ends the turn of a caller who is alone. */
    async turnEnds(): Promise<number> {
      const [caller] = callers as [Caller];
      const found: number[] = [];
      let place = 0;
      let quietUntilMs = 0;
      caller.onSound = ({ atMs, ms }) => {
        if (atMs > quietUntilMs) found.push(place);
        quietUntilMs = Math.max(quietUntilMs, atMs) + ms + FRAME_MS;
      };
      await talk(ANSWERING_MS, (_, at) => {
        place = at;
      });
      // The first answers take code that is not compiled yet, and come a frame later.
      return Math.min(...found);
    },
    /** Of each answer, the milliseconds from the frame at this place to its first sound. */
    async delaysAfter(ends: number, forMs: number): Promise<number[]> {
      const delays: number[] = [];
      const endedAtMs = new Map<Caller, number>();
      for (const caller of callers) {
        caller.onSound = ({ atMs }) => {
          const ended = endedAtMs.get(caller);
          if (ended !== undefined) delays.push(atMs - ended);
          endedAtMs.delete(caller);
        };
      }
      await talk(forMs, (at, place, sentMs) => {
        if (place === ends) endedAtMs.set(callers[at] as Caller, sentMs);
      });
      return delays;
    },
  };
}
