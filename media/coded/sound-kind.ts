import { readAdtsFrame } from '../duration/adts.ts';
import { readMp3Frame } from '../duration/mp3.ts';
import { goesOnWith, pastTags } from '../duration/walk-frames.ts';

/** The container and the codec of a sound file. */
export type SoundKind = 'wav' | 'ogg' | 'mp4' | 'webm' | 'flac' | 'aac' | 'mp3';

/** Returns the format of a file by its bytes; its name and declared type are ignored. Undefined for unknown formats. */
export function soundKind(file: Buffer): SoundKind | undefined {
  const at = (start: number, end: number) => file.toString('latin1', start, end);
  if (at(0, 4) === 'RIFF') return 'wav';
  if (at(0, 4) === 'OggS') return 'ogg';
  if (at(4, 8) === 'ftyp') return 'mp4';
  if (at(0, 4) === '\x1a\x45\xdf\xa3') return 'webm';
  const past = pastTags(file);
  if (at(past, past + 4) === 'fLaC') return 'flac';
  if (((file[past + 1] ?? 0) & 0xf6) === 0xf0 && file[past] === 0xff) return 'aac';
  if (readMp3Frame(file, past) !== undefined) return 'mp3';
  if (goesOnWith(file, readAdtsFrame)) return 'aac';
  if (goesOnWith(file, readMp3Frame)) return 'mp3';
  return file[past] === 0xff || past > 0 ? 'mp3' : undefined;
}
