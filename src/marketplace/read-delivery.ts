import type { Json } from '../kernel/json.ts';
import { audioTypeOf, isAudio } from '../models/providers/audio-type.ts';
import { type VendorAnswer, VendorFailed } from '../models/providers/vendors/vendor-api.ts';
import type { Delivery } from './vendor.ts';

/** The sound that an answer is. */
export function soundOf({ body, headers }: VendorAnswer): Delivery {
  const said = String(headers['content-type'] ?? '');
  if (!isAudio(said)) throw new VendorFailed('answered something else than sound');
  return fileOf(body, said);
}

/** The sound that an answer has in a text. */
export function codedSound(text: unknown, coding: 'base64' | 'hex', said = ''): Delivery {
  if (typeof text !== 'string') throw new VendorFailed('answered without sound');
  return fileOf(Buffer.from(text, coding), said);
}

function fileOf(audio: Buffer, said: string): Delivery {
  if (audio.length === 0) throw new VendorFailed('answered with no sound');
  return { audio, contentType: audioTypeOf(audio, said, 'mp3') };
}

/** A transcript: the vendor's own words, with the text under one name with all of them. */
export function transcript(json: Json, text: unknown): Delivery {
  if (typeof text !== 'string') throw new VendorFailed('answered without a transcript');
  return { json: { ...json, text } };
}
