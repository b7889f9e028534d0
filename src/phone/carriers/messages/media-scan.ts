import {
  base64Of,
  bitsOf,
  EVENT,
  INBOUND,
  innerNamesOf,
  MEDIA,
  namesOf,
  numberOf,
  objectsOf,
  PAYLOAD,
  scanMessage,
  TIMESTAMP,
  TRACK,
  within,
  wordOf,
} from '../../../../media/message/sound-message.ts';

/** Sound of a media message. The next message of any stream overwrites the object and its bytes. */
export type ScannedMedia = {
  readonly atMs: number;
  readonly isInbound: boolean;
  readonly bytes: Uint8Array;
};

const scanned = { atMs: 0, isInbound: false, bytes: new Uint8Array() as Uint8Array };

const OF_MEDIA = bitsOf(EVENT, MEDIA);
const OF_SOUND = bitsOf(TIMESTAMP, PAYLOAD);
const ONLY_MEDIA = bitsOf(MEDIA);
const TRACKED = bitsOf(TRACK);

/**
 * Reads the sound of `{"event":"media", …, "media":{…}}` without building objects: the hot path of a media stream. Returns
 * undefined for any other message, and for a form that only JSON.parse can read.
 */
export function scanMedia(message: Uint8Array): ScannedMedia | undefined {
  if (!scanMessage(message) || objectsOf() !== ONLY_MEDIA) return undefined;
  const inner = innerNamesOf();
  if ((namesOf() & OF_MEDIA) !== OF_MEDIA || (inner & OF_SOUND) !== OF_SOUND) return undefined;
  const atMs = numberOf(within(TIMESTAMP));
  if (wordOf(EVENT) !== MEDIA || atMs < 0) return undefined;
  const bytes = base64Of(within(PAYLOAD));
  if (bytes === undefined) return undefined;
  scanned.atMs = atMs;
  scanned.isInbound = (inner & TRACKED) !== 0 && wordOf(within(TRACK)) === INBOUND;
  scanned.bytes = bytes;
  return scanned;
}
