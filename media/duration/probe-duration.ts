/**
 * Measures the duration of a sound file from its bytes alone, not from its name or declared type. Frames are counted where
 * the format allows; a duration that a header merely claims is used only when nothing can be counted.
 */
import { soundKind } from '../coded/sound-kind.ts';
import { adtsDuration } from './adts.ts';
import { flacDuration } from './flac.ts';
import { type Measured, refused } from './measured.ts';
import { mp3Duration } from './mp3.ts';
import { mp4Duration } from './mp4.ts';
import { oggDuration } from './ogg.ts';
import { pastTags } from './walk-frames.ts';
import { wavDuration } from './wav.ts';
import { webmDuration } from './webm.ts';

/** Two days in milliseconds. No file of an accepted size can be longer, so that a longer stated duration is false. */
const MAX_DURATION_MS = 172_800_000;

/** Returns the duration of a file. For a long one it lets other work run in between: `bytes` must not change meanwhile. */
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
  switch (soundKind(file)) {
    case 'wav':
      return wavDuration(file);
    case 'ogg':
      return oggDuration(file);
    case 'mp4':
      return mp4Duration(file);
    case 'webm':
      return webmDuration(file);
    case 'flac':
      return flacDuration(file.subarray(pastTags(file)));
    case 'aac':
      return adtsDuration(file);
    case 'mp3':
      return mp3Duration(file);
    case undefined:
      return refused(
        'The file is none of the kinds that are taken: wav, mp3, m4a, mp4, aac, flac, ogg, webm.',
      );
  }
}
