import { deflateSync } from 'node:zlib';
import type { TimedWord } from '../../../engines/engine.ts';
import { joinPieces, turnForLongWork } from '../../../kernel/long-work.ts';
import type {
  PlainFormat,
  Rendered,
  TranscribedCall,
  TranscriptionCall,
  TranscriptSegment,
  WholeTranscript,
} from '../transcription-rail.ts';

type Granularities = TranscriptionCall['granularities'];

/** Returns the whole text of a transcript. */
export const textOf = ({ segments, text }: Pick<WholeTranscript, 'segments' | 'text'>): string =>
  text ?? segments.map((segment) => segment.text).join(' ');

/** Usage in a transcript that an engine of this process made. */
export const usageOf = ({ durationMs }: Pick<WholeTranscript, 'durationMs'>) => ({
  type: 'duration',
  seconds: durationMs / 1_000,
});

/** Writes a transcript in the requested format: a format of the OpenAI dialect, or the answer of another protocol. */
export function renderFor(
  whole: WholeTranscript,
  format: PlainFormat | 'listen',
  call: TranscribedCall & Pick<TranscriptionCall, 'granularities' | 'listen'>,
): Promise<Rendered> {
  if (format !== 'listen') return renderTranscript(whole, format, call.granularities);
  if (call.listen === undefined) throw new Error('a call in the format listen has its answer');
  return call.listen.write(whole, call);
}

/**
 * Writes a transcript in the requested format, with the requested times if the transcript has them. Long transcripts are
 * written in several turns of the event loop.
 */
async function renderTranscript(
  whole: WholeTranscript,
  format: PlainFormat,
  granularities?: Granularities,
): Promise<Rendered> {
  const { segments } = whole;
  switch (format) {
    case 'json':
      return json([Buffer.from(JSON.stringify({ text: textOf(whole), usage: usageOf(whole) }))]);
    case 'verbose_json':
      return json(await verbose(whole, granularities));
    case 'text':
      return text('text/plain', [Buffer.from(`${textOf(whole)}\n`)]);
    case 'srt':
      return text('application/x-subrip', await written(segments, '\n', srtCue));
    case 'vtt': {
      const head = Buffer.from(segments.length === 0 ? 'WEBVTT\n' : 'WEBVTT\n\n');
      return text('text/vtt', [head, ...(await written(segments, '\n', vttCue))]);
    }
  }
}

/** Items that are written in one turn of the event loop, which take up to about ten milliseconds. */
const ITEMS_PER_TURN = 250;

async function written<T>(
  items: readonly T[],
  between: string,
  write: (item: T, index: number) => string,
): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < items.length; at += ITEMS_PER_TURN) {
    if (at > 0) await turnForLongWork();
    const texts = items
      .slice(at, at + ITEMS_PER_TURN)
      .map((item, index) => write(item, at + index));
    pieces.push(Buffer.from((at > 0 ? between : '') + texts.join(between)));
  }
  return pieces;
}

const json = async (pieces: readonly Buffer[]): Promise<Rendered> => ({
  body: await joinPieces(pieces),
  contentType: 'application/json',
});

const text = async (type: string, pieces: readonly Buffer[]): Promise<Rendered> => ({
  body: await joinPieces(pieces),
  contentType: `${type}; charset=utf-8`,
});

/** Writes `verbose_json` as OpenAI does: segments unless only words are requested, and words only on request. */
async function verbose(
  whole: WholeTranscript,
  granularities: Granularities = ['segment'],
): Promise<Buffer[]> {
  const { durationMs, language, segments } = whole;
  const head = { task: 'transcribe', language, duration: durationMs / 1_000, text: textOf(whole) };
  const words = segments.flatMap(({ words: said = [] }) => said);
  return [
    Buffer.from(JSON.stringify(head).slice(0, -1)),
    ...(granularities.includes('word') ? await listed('words', words, verboseWord) : []),
    ...(granularities.includes('segment')
      ? await listed('segments', segments, verboseSegment)
      : []),
    Buffer.from(`,"usage":${JSON.stringify(usageOf(whole))}}`),
  ];
}

/** Writes a member whose value is a list. */
const listed = async <T>(
  name: string,
  items: readonly T[],
  shown: (item: T, index: number) => object,
): Promise<Buffer[]> => [
  Buffer.from(`,"${name}":[`),
  ...(await written(items, ',', (item, index) => JSON.stringify(shown(item, index)))),
  Buffer.from(']'),
];

const verboseWord = ({ word, startMs, endMs }: TimedWord) => ({
  word,
  start: startMs / 1_000,
  end: endMs / 1_000,
});

/**
 * Returns a segment with all members that clients require. Probabilities are 0 and `tokens` is empty, because local recognisers
 * report neither of the two.
 */
const verboseSegment = ({ startMs, endMs, text: said }: TranscriptSegment, id: number) => ({
  id,
  seek: WINDOW_FRAMES * Math.floor(startMs / WINDOW_MS),
  start: startMs / 1_000,
  end: endMs / 1_000,
  text: said,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: compressionRatio(said),
  no_speech_prob: 0,
});

/** Length of the window that the vendor's model hears at a time, and its number of frames. */
const WINDOW_MS = 30_000;
const WINDOW_FRAMES = 3_000;

/** Returns how well a text compresses. Above about 2.4 a text repeats itself. */
const compressionRatio = (said: string): number =>
  Buffer.byteLength(said) / deflateSync(said).length;

const srtCue = ({ startMs, endMs, text: said }: TranscriptSegment, index: number): string =>
  `${index + 1}\n${clock(startMs, ',')} --> ${clock(endMs, ',')}\n${said}\n`;

const vttCue = ({ startMs, endMs, text: said }: TranscriptSegment): string =>
  `${clock(startMs, '.')} --> ${clock(endMs, '.')}\n${said}\n`;

/** Formats a time as `01:02:03,004`, with `mark` before the milliseconds. */
function clock(timeMs: number, mark: ',' | '.'): string {
  // Rounded before the split, or 1,999.6 ms would be shown as 1 second and 1000 milliseconds.
  const ms = Math.round(timeMs);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = String(ms % 1_000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${mark}${rest}`;
}
