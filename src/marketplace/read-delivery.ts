import type { Json } from '../kernel/json.ts';
import { audioTypeOf, isAudio } from '../models/providers/audio-type.ts';
import { VendorFailed, type VendorResponse } from '../models/providers/vendors/vendor-api.ts';
import type { Deviation, ReportedWork } from './tripwires/deviation.ts';
import { type Delivery, VendorAnsweredOther } from './vendor.ts';

/** Returns the sound of an answer that was requested as MP3. Throws VendorAnsweredOther when the answer is no sound. */
export function soundOf(
  { body, headers }: VendorResponse,
  reportOf?: (headers: VendorResponse['headers']) => ReportedWork | undefined,
): Delivery {
  const said = String(headers['content-type'] ?? '');
  if (!isAudio(said)) {
    const departure = {
      tripwire: 'content_type',
      expected: MP3,
      observed: shortType(said),
    } as const;
    throw new VendorAnsweredOther('answered something else than sound', departure);
  }
  return { ...fileOf(body, said, MP3), reported: reportOf?.(headers) };
}

/**
 * Returns the sound that an answer has in a text: MP3, or the vendor's only format. Throws VendorFailed when there is no text.
 */
export function codedSound(
  text: unknown,
  coding: 'base64' | 'hex',
  {
    made = MP3,
    reported,
  }: { readonly made?: string; readonly reported?: ReportedWork | undefined } = {},
): Delivery {
  if (typeof text !== 'string') throw new VendorFailed('answered without sound');
  return { ...fileOf(Buffer.from(text, coding), made === MP3 ? '' : made, made), reported };
}

const MP3 = 'audio/mpeg';

/** Alternative names of content types, mapped to the name that is used here. */
const SAME_TYPE: Readonly<Record<string, string>> = {
  'audio/mp3': MP3,
  'audio/x-mp3': MP3,
  'audio/mpeg3': MP3,
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
};

function fileOf(audio: Buffer, said: string, wanted: string): Delivery {
  if (audio.length === 0) throw new VendorFailed('answered with no sound');
  const contentType = audioTypeOf(audio, said, 'mp3');
  return { audio, contentType, departure: otherType(contentType, wanted) };
}

function otherType(contentType: string, wanted: string): Deviation | undefined {
  const plain = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  if ((SAME_TYPE[plain] ?? plain) === wanted) return undefined;
  return { tripwire: 'content_type', expected: wanted, observed: shortType(plain) };
}

/** Returns a vendor's content type in printable characters, short enough for an event. */
const shortType = (said: string): string =>
  said.replace(/[^\x20-\x7e]/g, '').slice(0, 128) || 'none';

/**
 * Returns a transcript: the vendor's own answer, with the text in the member `text` for every vendor. Throws VendorFailed when
 * there is no text.
 */
export function transcript(json: Json, text: unknown, reported?: ReportedWork): Delivery {
  if (typeof text !== 'string') throw new VendorFailed('answered without a transcript');
  return { json: { ...json, text }, reported };
}
