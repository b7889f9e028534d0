import { parseJsonInTurns } from '../kernel/json/parse-json.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import { joinPieces } from '../kernel/long-work.ts';
import { audioTypeOf, isAudio } from '../models/providers/audio-type.ts';
import { writeForm } from '../models/providers/openai/form-body.ts';
import type { Delivery, SoundFile, VendorAnswer, VendorDoor, VendorRequest } from './vendor.ts';
import { VendorFailed } from './vendor.ts';

/** A request with a JSON body. */
export const jsonRequest = (path: string, body: Json): VendorRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** A request with a form of fields and a file. Fields without a value are left out. */
export async function formRequest(
  path: string,
  { random }: Pick<VendorDoor, 'random'>,
  fields: Readonly<Record<string, string | null | undefined>>,
  { bytes, contentType, name }: SoundFile,
  field = 'file',
): Promise<VendorRequest> {
  const given = Object.entries(fields).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [[key, value] as const],
  );
  const form = writeForm(random, given, { bytes, contentType, name, field });
  return {
    method: 'POST',
    path,
    headers: { 'content-type': form.contentType },
    body: await joinPieces(form.pieces),
  };
}

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

/** The object that an answer is. */
export async function objectOf({ body }: VendorAnswer): Promise<Json> {
  let value: unknown;
  try {
    value = await parseJsonInTurns(body, LIMITS.marketplace.answerJson);
  } catch (cause) {
    throw new VendorFailed('answered what is no JSON', { cause });
  }
  if (!isObject(value) || Array.isArray(value)) throw new VendorFailed('answered no object');
  return value;
}

/** A transcript: the vendor's own words, with the text under one name with all of them. */
export function transcript(json: Json, text: unknown): Delivery {
  if (typeof text !== 'string') throw new VendorFailed('answered without a transcript');
  return { json: { ...json, text } };
}
