import { setTimeout as delay } from 'node:timers/promises';
import { createLocalEngines } from '../src/engines/local-engines.ts';
import { loadSpeechGates } from '../src/engines/vad/fvad-gate.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import {
  BARGE_INS,
  type BargeIn,
  type BargeInCase,
  SILENT_AFTER_MS,
} from '../test/support/barge-ins.ts';
import { phoneCallOn } from '../test/support/phone-line.ts';
import { rms } from '../test/support/rms.ts';
import { LIBRIVOX, loadRecording, overTelephone } from '../test/support/speech.ts';
import { createFakeEngines } from '../test/support/voice-fakes.ts';
import { type BenchRow, benchRow, verdict } from './bench-row.ts';

const FRAME_SAMPLES = 160;
/** So long are the sentences of the callers; the longest of their shorter sounds is so many frames. */
const SENTENCE_MS = 600;
const SHORT_FRAMES = 25;
/** 20 ms of speech stand out of the noise of a recording. */
const VOICE_RMS = 400;

/** What a caller says in so many milliseconds. */
type Voice = (ms: number) => Int16Array;

/**
 * The moments at which a caller interrupts, in real time: how soon the carrier is told to be silent, how soon the caller
 * hears that, and how much is heard later. Callers speak with the voices of recordings, which the voice activity engine of
 * the server hears; the model and the voice of the agent do what each moment asks for. The carrier is in this process.
 */
export async function benchBargeIn(): Promise<BenchRow[]> {
  await using engines = createLocalEngines({
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  });
  const speechGates = await loadSpeechGates();
  const voices = LIBRIVOX.map(({ file }) => voiceOf(file));

  async function interrupted({ beginMessage, run }: BargeInCase, voice: Voice): Promise<BargeIn> {
    const phone = await phoneCallOn(
      { clock: systemClock, passes: delay },
      {
        ...(beginMessage !== undefined && { beginMessage }),
        engines: { ...createFakeEngines(), vad: engines.vad },
        deps: { speechGates },
        voice,
      },
    );
    const found = await run(phone);
    phone.line.close();
    phone.call.hungUp();
    await phone.call.settled;
    return found;
  }

  const rows: BenchRow[] = [];
  // The first call loads the model.
  await interrupted(BARGE_INS.whilePlayed, voices[0] as Voice);
  for (const one of Object.values<BargeInCase>(BARGE_INS)) {
    const found = await Promise.all(voices.map((voice) => interrupted(one, voice)));
    rows.push(...rowsOf(one.name, found));
  }
  return rows;
}

/** The longest of all voices. */
function rowsOf(name: string, found: readonly BargeIn[]): BenchRow[] {
  const most = (of: (bargeIn: BargeIn) => number) => Math.max(...found.map(of));
  const row = (what: string, value: number, note?: string) =>
    benchRow('barge-in', `${name}: ${what}`, value, 'ms', note);
  const clears = found.flatMap(({ clearMs }) => clearMs ?? []);
  const spread = `${Math.round(Math.min(...clears))} ms at least`;
  const [silentMs, leakedMs] = [most((one) => one.silentMs), most((one) => one.leakedMs)];
  return [
    row(
      'speech to clear',
      most(({ clearMs }) => clearMs ?? Number.NaN),
      clears.length === 0 ? 'nothing was left to clear' : spread,
    ),
    row(
      'clear to silence',
      silentMs,
      `≤ ${SILENT_AFTER_MS} ms: ${verdict(silentMs <= SILENT_AFTER_MS)}`,
    ),
    row('heard after that', leakedMs, `0 ms: ${verdict(leakedMs === 0)}`),
  ];
}

/**
 * A recording over a telephone line. A sentence begins as it does there; what is shorter is a piece of the middle of a
 * word, which is loud from its first frame on.
 */
function voiceOf(file: string): Voice {
  const pcm = overTelephone(loadRecording(file));
  const levels = Array.from({ length: Math.floor(pcm.length / FRAME_SAMPLES) }, (_, frame) =>
    rms(pcm.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES)),
  );
  const begin = levels.findIndex((level) => level > VOICE_RMS);
  const quietest = (from: number) => Math.min(...levels.slice(from, from + SHORT_FRAMES));
  const starts = levels.slice(0, -SHORT_FRAMES).map((_, frame) => frame);
  const steady = starts.reduce((best, from) => (quietest(from) > quietest(best) ? from : best));
  return (ms) => {
    const from = (ms < SENTENCE_MS ? steady : begin) * FRAME_SAMPLES;
    return pcm.subarray(from, from + ms * 8);
  };
}
