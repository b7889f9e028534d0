import { setTimeout as delay } from 'node:timers/promises';
import { decodeMulaw } from '../media/mulaw.ts';
import { createLocalEngines } from '../src/engines/local-engines.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import type { Sql } from '../src/platform/postgres/sql.ts';
import { withDatabase } from './bench-database.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { HARD_TURNS, type HardTurn } from './hard-turns.ts';
import { type Caller, startCalls } from './phone-callers.ts';
import { at as quantile } from './quantile.ts';
import {
  durationMs,
  espeakVoice,
  FRAME_MS,
  lineFrames,
  noiseOf,
  sayParts,
  sayText,
} from './said-sound.ts';

/** Calls at a time: as many as the local recogniser has decoders, or fewer on a machine that is shared. */
const LANES = Math.max(1, Math.min(4, Number(process.env.LANES ?? 4)));
const VOICES = ['rms', 'slt'] as const;
/** The voice of the agent. */
const AGENT_VOICE = 'rms';
/** An answer that has not begun by then does not come. */
const PATIENCE_MS = 4_000;
/** How long the agent is heard after a sign of listening, to know whether it goes on. */
const ON_MS = 2_500;
const AUDIBLE = 500;
/** Of 32,767: a line is not quite still. */
const HISS = 12;

type Outcome = HardTurn & {
  /** The agent was heard before the caller had finished. */
  readonly isCutOff: boolean;
  readonly replyMs: number | undefined;
  /** The greeting was not heard to its end. */
  readonly isInterrupted: boolean;
  readonly isAnswered: boolean;
};

/**
 * What calls of people are made of and recordings of fluent sentences are not, with local engines over telephone lines:
 * the groups named, or all.
 */
export async function benchHardTurns(groups: readonly string[] = []): Promise<BenchRow[]> {
  const unknown = groups.filter((group) => !(group in BARS));
  if (unknown.length > 0) {
    throw new Error(`no group ${unknown.join(', ')}; there are ${Object.keys(BARS).join(', ')}`);
  }
  const espeak = espeakVoice();
  const isWanted = ({ group }: HardTurn) => groups.length === 0 || groups.includes(group);
  const said = HARD_TURNS.filter(isWanted).flatMap((turn, nth) => {
    const voices = turn.group === 'short answers' ? [VOICES[nth % VOICES.length] ?? ''] : VOICES;
    return [...voices, ...(espeak === undefined ? [] : [espeak])].map((voice) => ({ turn, voice }));
  });
  await using engines = createLocalEngines({
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  });
  const calls = await Promise.all(
    said.map(async ({ turn, voice }) => ({
      turn,
      sound: await sayParts(engines, turn.parts, voice),
      greetingMs: durationMs(await sayText(engines, turn.greeting, AGENT_VOICE)),
    })),
  );
  const outcomes = await withDatabase(async (sql, target) => {
    const server = await startCalls(sql, {
      kind: 'live',
      engines: 'local',
      isTimed: false,
      lateMs: 0,
      target,
      calls: calls.length + LANES,
      isPinned: false,
    });
    const rest = [...calls.entries()];
    const found: Outcome[] = [];
    const lane = async (nth: number) => {
      // The first call of each lane finds the models not loaded.
      const [first] = calls;
      if (first !== undefined) {
        const caller = await server.open(calls.length + nth + 1, 'Hello.');
        await held(caller, first);
        caller.hangUp();
      }
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        const [at, call] = next;
        const caller = await server.open(at + 1, call.turn.greeting);
        found.push(await judged(sql, caller, call));
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, nth) => lane(nth)));
    await server.close();
    return found;
  });
  const voices = espeak === undefined ? ', without espeak-ng, which is not installed' : '';
  const note = `${LANES} at a time${voices}`;
  return [
    ...rowsOf(outcomes),
    benchRow('turns', `hard turns, ${LANES} at a time`, outcomes.length, 'calls', note),
  ];
}

type Call = {
  readonly turn: HardTurn;
  readonly sound: Int16Array;
  readonly greetingMs: number;
};

async function judged(sql: Sql, caller: Caller, call: Call): Promise<Outcome> {
  const { isCutOff, replyMs } = await held(caller, call);
  // The turns of a call without a report are deleted with its end.
  await delay(200);
  const rows = await sql<{ role: string; isCut: boolean }[]>`
    select role, heard is not null as "isCut" from call_turns
    where call_id = ${caller.callId} order by seq`;
  caller.hangUp();
  const spoken = rows.filter(({ role }) => role === 'assistant');
  return {
    ...call.turn,
    isCutOff,
    replyMs,
    isInterrupted: spoken[0]?.isCut === true,
    isAnswered: spoken.length > 1 || replyMs !== undefined,
  };
}

/** Audible sound of the agent as it is played, in milliseconds of this process. */
function listenTo(caller: Caller) {
  const heard: { fromMs: number; toMs: number }[] = [];
  let playedUntilMs = 0;
  caller.onClear = () => {
    playedUntilMs = performance.now();
    for (const piece of heard) piece.toMs = Math.min(piece.toMs, playedUntilMs);
  };
  caller.onSound = ({ atMs, ms, payload }) => {
    const startMs = Math.max(playedUntilMs, atMs);
    playedUntilMs = startMs + ms;
    const codes = Buffer.from(payload, 'base64');
    const pcm = new Int16Array(codes.length);
    decodeMulaw(codes, pcm);
    const first = pcm.findIndex((sample) => Math.abs(sample) > AUDIBLE);
    if (first >= 0) heard.push({ fromMs: startMs + first / 8, toMs: playedUntilMs });
  };
  return {
    /** When the agent is first heard at or after `fromMs`. */
    after: (fromMs: number) =>
      heard.find(({ fromMs: at, toMs }) => at >= fromMs && toMs > at)?.fromMs,
  };
}

/** Holds one call: the greeting, what the caller says over or after it, and the reply. */
async function held(caller: Caller, { greetingMs, sound, turn }: Call) {
  const agent = listenTo(caller);
  const { gain = 1, isBeside = false, noise, startsAt } = turn;
  const loud = gain === 1 ? sound : sound.map((sample) => sample * gain);
  const beside = isBeside ? noiseOf('babble') : undefined;
  const noisy = noise && noiseOf(noise);
  const hiss = () => (Math.random() - 0.5) * 2 * HISS;
  const coded = lineFrames(() => hiss() + (noisy?.() ?? 0) + (beside?.() ?? 0) * 0.5);
  const isOver = turn.startsAt.from === 'begin' || turn.group === 'short answers';
  const openedMs = performance.now();
  let greetedMs: number | undefined;
  for (let sent = 0; ; sent++) {
    const waitMs = openedMs + sent * FRAME_MS - performance.now();
    if (waitMs > 0) await delay(waitMs);
    const nowMs = performance.now();
    greetedMs ??= agent.after(0);
    const basisMs = (greetedMs ?? Infinity) + (startsAt.from === 'end' ? greetingMs : 0);
    const startMs = basisMs + startsAt.ms;
    const endMs = startMs + durationMs(loud);
    const at = Math.floor((nowMs - startMs) / FRAME_MS);
    caller.say(coded(nowMs >= startMs && nowMs < endMs ? loud : undefined, Math.max(0, at || 0)));
    if (greetedMs === undefined && nowMs < openedMs + 2 * PATIENCE_MS) continue;
    const greetingEndMs = (greetedMs ?? openedMs) + greetingMs;
    const cutOffMs = isOver ? undefined : agent.after(Math.max(greetingEndMs + 150, startMs));
    if (cutOffMs !== undefined && cutOffMs < endMs) return { isCutOff: true, replyMs: undefined };
    const replyAtMs = agent.after(Math.max(endMs, isOver ? greetingEndMs + 150 : endMs));
    const isOn = turn.group === 'backchannels' && nowMs < greetingEndMs + ON_MS;
    const isLate = nowMs > Math.max(endMs, isOver ? greetingEndMs : 0) + PATIENCE_MS;
    if (isOn || (replyAtMs === undefined && !isLate)) continue;
    return { isCutOff: false, replyMs: replyAtMs && replyAtMs - endMs };
  }
}

/** Which share of a group came out wrong, and the most that may. */
const BARS: Readonly<
  Record<string, { what: string; isWrong: (o: Outcome) => boolean; most: number }>
> = {
  numbers: { what: 'cut off', isWrong: ({ isCutOff }) => isCutOff, most: 0.05 },
  spelling: { what: 'cut off', isWrong: ({ isCutOff }) => isCutOff, most: 0.05 },
  hesitation: { what: 'cut off', isWrong: ({ isCutOff }) => isCutOff, most: 0.05 },
  afterthoughts: { what: 'cut off', isWrong: ({ isCutOff }) => isCutOff, most: 1 },
  backchannels: { what: 'interrupted', isWrong: ({ isInterrupted }) => isInterrupted, most: 0.05 },
  interruptions: { what: 'ignored', isWrong: ({ isInterrupted }) => !isInterrupted, most: 0.05 },
  'short answers': { what: 'lost', isWrong: ({ isAnswered }) => !isAnswered, most: 0 },
  noise: { what: 'lost', isWrong: ({ isAnswered }) => !isAnswered, most: 0.1 },
  'two speakers': { what: 'lost', isWrong: ({ isAnswered }) => !isAnswered, most: 0.1 },
  'soft voices': { what: 'lost', isWrong: ({ isAnswered }) => !isAnswered, most: 0.1 },
};

function rowsOf(outcomes: readonly Outcome[]): BenchRow[] {
  return Object.entries(BARS).flatMap(([group, { isWrong, most, what }]) => {
    const of = outcomes.filter((outcome) => outcome.group === group);
    if (of.length === 0) return [];
    const wrong = of.filter(isWrong);
    const replies = of.flatMap(({ replyMs }) => (replyMs === undefined ? [] : [replyMs]));
    const share = wrong.length / of.length;
    const names = wrong
      .map(({ noise, parts, startsAt }) => noise ?? `${parts.join(' ')} @${startsAt.ms}`)
      .join(' | ');
    const bar = most < 1 ? `≤ ${100 * most} %: ${verdict(share <= most)}; ` : '';
    return [
      benchRow('turns', `${group}: ${what}, of ${of.length}`, 100 * share, '%', `${bar}${names}`),
      benchRow('turns', `${group}: last word to reply, p50`, quantile(replies, 0.5), 'ms'),
    ];
  });
}
