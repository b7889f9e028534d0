/** First bytes of files and of recorders' streams: RIFF, Ogg, FLAC, Matroska and WebM, ID3. */
const MAGIC = ['RIFF', 'OggS', 'fLaC', '\x1aE\xdf\xa3', 'ID3'];

/** Identifying bytes of each file format that OpenAI's transcriptions accept, with their offset in the file. */
const FORMATS: readonly (readonly [at: number, magic: string, extension: string])[] = [
  [8, 'WAVE', 'wav'],
  [0, 'fLaC', 'flac'],
  [0, 'OggS', 'ogg'],
  [0, '\x1aE\xdf\xa3', 'webm'],
  [4, 'ftyp', 'm4a'],
  [0, 'ID3', 'mp3'],
  // MP3 without an ID3 tag: frame headers of MPEG 1 and 2, layer III, with and without a checksum.
  [0, '\xff\xfa', 'mp3'],
  [0, '\xff\xfb', 'mp3'],
  [0, '\xff\xf2', 'mp3'],
  [0, '\xff\xf3', 'mp3'],
];
const HAS_EXTENSION = /\.(flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm)$/i;

/**
 * Returns a file name, with an extension from the file's first bytes when the name has none. An upstream may derive the format
 * from the extension alone: https://platform.openai.com/docs/guides/speech-to-text.
 */
export function soundName(name: string, bytes: Uint8Array): string {
  if (HAS_EXTENSION.test(name)) return name;
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  const extension = FORMATS.find(([at, magic]) => head.startsWith(magic, at))?.[2];
  return extension === undefined ? name : `sound.${extension}`;
}

/** Returns true when the bytes begin a container, and so are no raw audio. */
export function isContainer(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('latin1');
  return MAGIC.some((magic) => head.startsWith(magic));
}
