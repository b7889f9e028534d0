import { setTimeout as delay } from 'node:timers/promises';
import { decodeMulaw, encodeMulaw } from '../media/mulaw.ts';
import { Resampler } from '../media/resample.ts';
import { rms } from '../test/support/rms.ts';
import { loadRecording, RECORDINGS } from '../test/support/speech.ts';
import { withDatabase } from './bench-database.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';
import { type Caller, openCallers } from './phone-callers.ts';
import { at as quantile } from './quantile.ts';

const RATE = 8_000;
const FRAME_MS = 20;
const FRAME = (RATE * FRAME_MS) / 1_000;
/** Silence before the first words. */
const PAUSE_MS = 1_000;
/** An answer that has not begun by then does not come. */
const PATIENCE_MS = 6_000;
/** 20 ms of speech stand out of the noise of a recording, and of the hiss of a line. */
const VOICE_RMS = 400;
/** The level from which a caller hears the agent. */
const AUDIBLE = 500;

/** How a recording is heard over a telephone: its level, and the hiss of the line, of 32,767. */
const LINES = [
  { name: 'as recorded', gain: 1, hiss: 0 },
  { name: 'at half the level', gain: 0.5, hiss: 0 },
  { name: 'with hiss', gain: 1, hiss: 60 },
] as const;
type Line = (typeof LINES)[number];

const CUT_OFF_BAR = 0.05;
const REPLY_BAR_MS = 700;

/** What became of one recording that a caller said. */
type Turn = {
  /** The agent was heard before the caller had finished. */
  readonly isCutOff: boolean;
  /** From the caller's last sound of speech to the first audible sound of the agent; undefined: there was no answer. */
  readonly replyMs: number | undefined;
};

/**
 * Turn taking on the shipped recordings, over telephone lines and with local engines: how often the agent speaks before
 * its caller has finished, and how long a caller waits for the reply.
 */
export async function benchTurnTaking(): Promise<BenchRow[]> {
  return withDatabase(async (sql, target) => {
    const calls = await openCallers(sql, {
      kind: 'live',
      engines: 'local',
      isTimed: false,
      lateMs: 0,
      target,
      // One for each recording, and one that loads the models.
      calls: LINES.length * (RECORDINGS.length + 1),
      isPinned: false,
    });
    const found = await Promise.all(
      LINES.map((line, nth) =>
        sayAll(
          calls.callers.filter((_, at) => at % LINES.length === nth),
          line,
        ),
      ),
    );
    await calls.close();
    const rows = LINES.flatMap(({ name }, nth) => rowsOf(name, found[nth] ?? []));
    return [...rows, ...rowsOf('all', found.flat(), true)];
  });
}

/** Each caller says one recording and hangs up once it is answered. The first one finds the models not loaded. */
async function sayAll(callers: readonly Caller[], line: Line): Promise<Turn[]> {
  const [first, ...others] = callers as [Caller, ...Caller[]];
  await say(first, recordingOver(RECORDINGS[1]?.file ?? '', line));
  const turns: Turn[] = [];
  for (const [nth, { file }] of RECORDINGS.entries()) {
    turns.push(await say(others[nth] as Caller, recordingOver(file, line)));
  }
  return turns;
}

function rowsOf(name: string, turns: readonly Turn[], isJudged = false): BenchRow[] {
  const replies = turns.flatMap(({ replyMs }) => (replyMs === undefined ? [] : [replyMs]));
  const cutOff = turns.filter(({ isCutOff }) => isCutOff).length;
  const share = cutOff / turns.length;
  const p50 = quantile(replies, 0.5);
  const row = (what: string, value: number, unit: string, note?: string) =>
    benchRow('turns', `${name}: ${what}`, value, unit, note);
  const unanswered = turns.length - replies.length;
  const bar = (text: string, isHeld: boolean) => (isJudged ? `${text}: ${verdict(isHeld)}` : '');
  return [
    row(
      ...([`cut off, of ${turns.length}`, 100 * share, '%'] as const),
      bar(`≤ ${100 * CUT_OFF_BAR} %`, share <= CUT_OFF_BAR),
    ),
    row('last word to reply, p50', p50, 'ms', bar(`≤ ${REPLY_BAR_MS} ms`, p50 <= REPLY_BAR_MS)),
    row('p95', quantile(replies, 0.95), 'ms', `${unanswered} without a reply`),
  ];
}

/** A recording as a telephone carries it, in frames of base64, and where its voice ends. */
function recordingOver(file: string, { gain, hiss }: Line) {
  const wide = loadRecording(file);
  const pcm = new Int16Array(wide.length);
  const count = new Resampler(16_000, RATE).push(wide, pcm);
  const whole = Math.ceil(count / FRAME) * FRAME;
  let voiceEndMs = 0;
  const frames: string[] = [];
  for (let at = 0; at < whole; at += FRAME) {
    const frame = new Int16Array(FRAME);
    frame.set(pcm.subarray(at, Math.min(at + FRAME, count)));
    if (rms(frame) > VOICE_RMS) voiceEndMs = (at / FRAME + 1) * FRAME_MS;
    frames.push(coded(frame, gain, hiss));
  }
  return { frames, voiceEndMs, quiet: () => coded(new Int16Array(FRAME), 1, hiss) };
}

function coded(pcm: Int16Array, gain: number, hiss: number): string {
  const noisy = pcm.map((sample) => sample * gain + (Math.random() - 0.5) * 2 * hiss);
  const codes = new Uint8Array(pcm.length);
  encodeMulaw(noisy, codes);
  return Buffer.from(codes).toString('base64');
}

/** When the first audible sample of the agent is played. */
function firstHeard(caller: Caller): { readonly atMs: number | undefined } {
  let playedUntilMs = 0;
  const heard: { atMs: number | undefined } = { atMs: undefined };
  caller.onSound = ({ atMs, ms, payload }) => {
    const startMs = Math.max(playedUntilMs, atMs);
    playedUntilMs = startMs + ms;
    const codes = Buffer.from(payload, 'base64');
    const pcm = new Int16Array(codes.length);
    decodeMulaw(codes, pcm);
    const first = pcm.findIndex((sample) => Math.abs(sample) > AUDIBLE);
    if (first >= 0) heard.atMs ??= startMs + (first * 1_000) / RATE;
  };
  return heard;
}

/** The caller says a recording, is silent until the agent is heard, and hangs up. */
async function say(
  caller: Caller,
  { frames, quiet, voiceEndMs }: ReturnType<typeof recordingOver>,
): Promise<Turn> {
  const heard = firstHeard(caller);
  const line = pacedLine(caller);
  await line.send(PAUSE_MS / FRAME_MS, quiet);
  const startedMs = performance.now();
  let frame = 0;
  await line.send(frames.length, () => frames[frame++] as string);
  const endedMs = startedMs + voiceEndMs;
  while (heard.atMs === undefined && performance.now() < endedMs + PATIENCE_MS) {
    await line.send(5, quiet);
  }
  caller.hangUp();
  if (heard.atMs === undefined) return { isCutOff: false, replyMs: undefined };
  const replyMs = heard.atMs - endedMs;
  return replyMs < 0 ? { isCutOff: true, replyMs: undefined } : { isCutOff: false, replyMs };
}

/** Sends frames in real time, one each 20 ms, without drift. */
function pacedLine(caller: Caller) {
  const startMs = performance.now();
  let sent = 0;
  return {
    async send(frames: number, payload: () => string): Promise<void> {
      for (let i = 0; i < frames; i++) {
        const waitMs = startMs + sent * FRAME_MS - performance.now();
        if (waitMs > 0) await delay(waitMs);
        caller.say(payload());
        sent++;
      }
    },
  };
}
