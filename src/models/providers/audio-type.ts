import type { SpeechFormat } from './speech-rail.ts';

export const AUDIO_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

type Mark = { readonly at: number; readonly text: string };

/** Signatures of audio files with the media types for each. The first type of a list is the one that this server sends. */
const MARKED: readonly { readonly marks: readonly Mark[]; readonly types: readonly string[] }[] = [
  {
    marks: [
      { at: 0, text: 'RIFF' },
      { at: 8, text: 'WAVE' },
    ],
    types: ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  },
  {
    marks: [{ at: 0, text: 'OggS' }],
    types: ['audio/ogg', 'audio/opus', 'audio/vorbis', 'application/ogg'],
  },
  { marks: [{ at: 0, text: 'fLaC' }], types: ['audio/flac', 'audio/x-flac'] },
  { marks: [{ at: 0, text: 'ID3' }], types: ['audio/mpeg', 'audio/mp3', 'audio/x-mp3'] },
];

/** Media types that do not name a format of audio. */
const UNSPECIFIC: ReadonlySet<string> = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
]);

/** Characters that a relayed media type may have. A type with any other character is not relayed. */
const PRINTABLE = /^[\x20-\x7e]+$/;

const base = (type: string): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase();

/** Returns true when an answer of this content type may be an audio file. */
export const isAudio = (said: string): boolean => {
  const type = base(said);
  return type.startsWith('audio/') || type === 'application/ogg' || UNSPECIFIC.has(type);
};

/**
 * Returns the media type of audio that begins with `head`. Clients decode by it, so the file's own signature wins over the
 * upstream's header, and the header over the requested format.
 */
export function audioTypeOf(head: Uint8Array, said: string, format: SpeechFormat): string {
  const stated = UNSPECIFIC.has(base(said)) || !PRINTABLE.test(said) ? AUDIO_TYPES[format] : said;
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 16)).toString(
    'latin1',
  );
  const marked = MARKED.find(({ marks }) =>
    marks.every(({ at, text }) => start.startsWith(text, at)),
  );
  if (marked === undefined || marked.types.includes(base(stated))) return stated;
  return marked.types[0] ?? stated;
}
