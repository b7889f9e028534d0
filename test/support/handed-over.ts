import { Loudness } from '../../media/line/loudness.ts';
import type { SimCall } from './carrier-sim/sim-call.ts';

const MULAW = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
const FRAME_MS = 20;

/** How long a call may be silent that goes on at another process. */
export const HANDOVER_SILENCE_MS = 2_000;

/** When a call went from its first process to another, in milliseconds since its answer. */
export type HandedOver = {
  /** The end of the last sound of the first process. */
  readonly lastSoundMs: number;
  /** What the far side says from the close of the one stream to the begin of the next is lost. */
  readonly closedMs: number;
  readonly heardFromMs: number;
  /** The first loud sound of the other process; undefined: it has said nothing so far. */
  readonly firstSoundMs: number | undefined;
};

/** What the far side has noticed of the change; undefined: the call has not gone on so far. */
export async function handedOver({ streams }: SimCall): Promise<HandedOver | undefined> {
  const [before, after] = streams;
  if (before === undefined || after === undefined || after.beganAtMs === 0) return undefined;
  const ears = new Loudness(MULAW);
  const { atMs: closedMs } = await before.closed;
  const last = before.playback.heard.at(-1)?.atMs;
  return {
    closedMs,
    lastSoundMs: last === undefined ? closedMs : last + FRAME_MS,
    heardFromMs: after.beganAtMs,
    firstSoundMs: after.playback.heard.find(({ bytes }) => ears.isLoud(bytes))?.atMs,
  };
}
