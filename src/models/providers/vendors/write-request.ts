import type { Json } from '../../../kernel/json.ts';
import { joinPieces } from '../../../kernel/long-work.ts';
import { writeForm } from '../openai/form-body.ts';
import type { SoundFile, VendorClient, VendorRequest } from './vendor-api.ts';

/** Builds a request with a JSON body. */
export const jsonRequest = (path: string, body: Json): VendorRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** Builds a request with a form of fields and a file. Fields without a value are left out. */
export async function formRequest(
  path: string,
  { random }: Pick<VendorClient, 'random'>,
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
