import type { PlainFormat } from './transcription-rail.ts';

export type TranscriptSegment = {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
};

export type WholeTranscript = {
  readonly segments: readonly TranscriptSegment[];
  readonly durationMs: number;
  readonly language: string;
};

type Rendered = { readonly body: Buffer; readonly contentType: string };

/** All the words of a transcript. */
export const textOf = ({ segments }: Pick<WholeTranscript, 'segments'>): string =>
  segments.map(({ text }) => text).join(' ');

/** How a transcript of our own says what it used. */
export const usageOf = ({ durationMs }: Pick<WholeTranscript, 'durationMs'>) => ({
  type: 'duration',
  seconds: durationMs / 1_000,
});

/** Writes a transcript in the format that was asked for. */
export function renderTranscript(whole: WholeTranscript, format: PlainFormat): Rendered {
  switch (format) {
    case 'json':
      return json({ text: textOf(whole), usage: usageOf(whole) });
    case 'verbose_json':
      return json(verbose(whole));
    case 'text':
      return text('text/plain', `${textOf(whole)}\n`);
    case 'srt':
      return text('application/x-subrip', whole.segments.map(srtCue).join('\n'));
    case 'vtt':
      return text('text/vtt', ['WEBVTT\n', ...whole.segments.map(vttCue)].join('\n'));
  }
}

const json = (body: object): Rendered => ({
  body: Buffer.from(JSON.stringify(body)),
  contentType: 'application/json',
});

const text = (type: string, body: string): Rendered => ({
  body: Buffer.from(body),
  contentType: `${type}; charset=utf-8`,
});

/** Without the likelihoods that a recogniser of another make would tell: none are known. */
const verbose = (whole: WholeTranscript) => ({
  task: 'transcribe',
  language: whole.language,
  duration: whole.durationMs / 1_000,
  text: textOf(whole),
  segments: whole.segments.map(({ startMs, endMs, text: said }, id) => ({
    id,
    seek: 0,
    start: startMs / 1_000,
    end: endMs / 1_000,
    text: said,
    tokens: [],
    temperature: 0,
  })),
  usage: usageOf(whole),
});

const srtCue = ({ startMs, endMs, text: said }: TranscriptSegment, index: number): string =>
  `${index + 1}\n${clock(startMs, ',')} --> ${clock(endMs, ',')}\n${said}\n`;

const vttCue = ({ startMs, endMs, text: said }: TranscriptSegment): string =>
  `${clock(startMs, '.')} --> ${clock(endMs, '.')}\n${said}\n`;

/** `01:02:03,004` */
function clock(ms: number, mark: ',' | '.'): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = String(Math.round(ms) % 1_000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${mark}${rest}`;
}
