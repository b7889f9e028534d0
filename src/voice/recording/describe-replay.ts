import type { Replay, ReplayDifference } from './player.ts';
import type { SentRecord, Tape } from './tape.ts';

/** Number of characters shown around the place where a frame differs. */
const SHOWN_CHARS = 80;

/** Describes the result of a replay in text. Quotes speech only of frames that differ. */
export function describeReplay({ header, isFull }: Tape, { difference, frames }: Replay): string {
  if (difference !== undefined) return describeDifference(difference);
  const extent = isFull ? '; the recording was full before the session was over' : '';
  return `${header.kind} session ${header.input.owner.sessionId}: ${frames} frames, all as recorded${extent}`;
}

function describeDifference(difference: ReplayDifference): string {
  const at = `${(difference.atMs / 1_000).toFixed(3)} s`;
  if (difference.kind === 'course') {
    const { actual, afterFrame, expected } = difference;
    return `after frame ${afterFrame}, at ${at}: the recording has ${expected}, the session came to ${actual}`;
  }
  const { frame } = difference;
  const [expected, actual] = [difference.expected, difference.actual].map(textOf) as [
    string,
    string,
  ];
  let from = 0;
  while (from < Math.min(expected.length, actual.length) && expected[from] === actual[from]) from++;
  const shown = (text: string) => {
    const start = Math.max(0, from - SHOWN_CHARS / 2);
    return `${start > 0 ? '…' : ''}${text.slice(start, start + SHOWN_CHARS)}`;
  };
  return [
    `frame ${frame}, at ${at}, differs from character ${from} on`,
    `  recorded: ${shown(expected)}`,
    `  replayed: ${shown(actual)}`,
  ].join('\n');
}

function textOf(sent: SentRecord | undefined): string {
  if (sent === undefined) return 'nothing';
  const [, path, args] = sent;
  const texts = args.map((arg) => (arg instanceof Uint8Array ? Buffer.from(arg).toString() : arg));
  return `${path} ${texts.map((text) => (typeof text === 'string' ? text : JSON.stringify(text))).join(' ')}`;
}
