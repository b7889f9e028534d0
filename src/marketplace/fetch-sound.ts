import { probeDuration } from '../../media/duration/probe-duration.ts';
import type { SoundFile } from '../models/providers/vendors/vendor-api.ts';
import type { FetchFile, FileCaller } from './fetch-file.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import { unfit } from './vendor.ts';

export type FetchSound = (audioUrl: string, caller: FileCaller) => Promise<SoundFile>;

const { bytes: mostBytes, seconds: audioSeconds } = MARKETPLACE_LIMITS.audio;

const SOUND = {
  member: 'audioUrl',
  accept: 'audio/*,video/*;q=0.9,*/*;q=0.1',
  mostBytes,
} as const;

/**
 * Creates the fetch of sound files, which reads the length of the sound from its bytes. The fetch throws the refusal, also of a
 * file that is no sound or lasts too long.
 */
export const createSoundFetch =
  (fetchFile: FetchFile): FetchSound =>
  async (audioUrl, caller) => {
    const { bytes, contentType, url } = await fetchFile(audioUrl, SOUND, caller);
    const probed = await probeDuration(bytes);
    if (probed.kind === 'refused') throw unfit('audioUrl', probed.reason);
    const { durationMs } = probed;
    if (durationMs > audioSeconds * 1_000) {
      throw unfit('audioUrl', `must last at most ${audioSeconds} s`);
    }
    return { bytes, durationMs, contentType: typeOf(contentType), name: fileName(url) };
  };

/**
 * Returns the file's content type for the vendor, or a neutral type when the text is no audio or video type and would mislead
 * the vendor.
 */
const typeOf = (said: string): string =>
  /^(audio|video)\/[\w.+-]{1,64}$/.test(said) ? said : 'application/octet-stream';

/**
 * Returns the last part of a path, since some vendors take the kind of a file from its name; `sound` when that part has unusual
 * characters.
 */
function fileName(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  return /^[\w.-]{1,64}$/.test(last) ? last : 'sound';
}
