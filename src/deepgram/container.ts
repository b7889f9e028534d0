/** How files and recorders begin: RIFF, Ogg, FLAC, Matroska and WebM, ID3. */
const MAGIC = ['RIFF', 'OggS', 'fLaC', '\x1aE\xdf\xa3', 'ID3'];

/** Whether these bytes begin a container, which is no raw audio. */
export function isContainer(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('latin1');
  return MAGIC.some((magic) => head.startsWith(magic));
}
