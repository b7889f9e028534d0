/**
 * How long a file of sound lasts, found out from its bytes: neither its name nor its declared type is asked. What can
 * be counted is counted; what a head merely claims counts only where nothing else is to be had.
 */
import { adtsDuration } from './adts.ts';
import { flacDuration } from './flac.ts';
import { type Measured, refused } from './measured.ts';
import { mp3Duration } from './mp3.ts';
import { mp4Duration } from './mp4.ts';
import { oggDuration } from './ogg.ts';
import { pastTags } from './walk-frames.ts';
import { wavDuration } from './wav.ts';
import { webmDuration } from './webm.ts';

/** Two days: more than any file that is taken can hold, so that a longer one lies. */
const MAX_DURATION_MS = 172_800_000;

/** Of a long file, whatever else is ready runs in between. The bytes must not change meanwhile. */
export async function probeDuration(bytes: Uint8Array): Promise<Measured> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = await measure(file);
  if (found.kind === 'refused') return found;
  if (found.durationMs <= 0) return refused('The file holds no sound.');
  if (found.durationMs > MAX_DURATION_MS) {
    return refused('The file claims a duration that it cannot have.');
  }
  return found;
}

function measure(file: Buffer): Measured | Promise<Measured> {
  const at = (start: number, end: number) => file.toString('latin1', start, end);
  if (at(0, 4) === 'RIFF') return wavDuration(file);
  if (at(0, 4) === 'OggS') return oggDuration(file);
  if (at(4, 8) === 'ftyp') return mp4Duration(file);
  if (at(0, 4) === '\x1a\x45\xdf\xa3') return webmDuration(file);
  const past = pastTags(file);
  if (at(past, past + 4) === 'fLaC') return flacDuration(file.subarray(past));
  if (((file[past + 1] ?? 0) & 0xf6) === 0xf0 && file[past] === 0xff) return adtsDuration(file);
  if (file[past] === 0xff || past > 0) return mp3Duration(file);
  return refused(
    'The file is none of the kinds that are taken: wav, mp3, m4a, mp4, aac, flac, ogg, webm.',
  );
}
