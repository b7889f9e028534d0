import { requestErrors } from '../../http/route/errors.ts';
import { route, streamedBody } from '../../http/route/route.ts';
import { uuidOf } from '../../kernel/ids.ts';
import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { joinPieces } from '../../kernel/long-work.ts';
import { gatewayErrors } from '../../models/errors.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';
import { DEEPGRAM_LIMITS } from '../../protocols/deepgram/limits.ts';
import {
  type HeardFile,
  ListenFileQuery,
  type ListenFiles,
  readAddress,
} from '../../protocols/deepgram/listen/listen-file.ts';
import type { SoundAtAddress } from '../../protocols/deepgram/listen/sound-at-address.ts';

/** Sells the transcript of one file to Deepgram's clients. The file is the body, or the body names its address. */
export const listenToFile = route<{
  listenFiles: ListenFiles;
  soundAtAddress: SoundAtAddress;
}>()({
  method: 'POST',
  path: '/v1/listen',
  credential: 'agent',
  summary: 'Buy the transcript of a file, for clients of Deepgram',
  envelope: 'deepgram',
  acceptsTokenScheme: true,
  admitsClientSecrets: 'deepgram',
  rateLimit: 'gateway',
  providerKey: 'optional',
  idempotent: true,
  query: ListenFileQuery,
  body: streamedBody('application/octet-stream'),
  maxBodyBytes: MODEL_LIMITS.transcription.fileBytes,

  async handle(context) {
    const { body, headers, query, requestId, services, url } = context;
    const rawQuery = queryOf(url);
    const buyer = readBuyer(context);
    const hear = (file: HeardFile) =>
      services.listenFiles.hear({ buyer, requestId, query, rawQuery, file });
    const contentType = headers.get('content-type');
    const answer =
      contentType !== undefined && /^application\/json\b/i.test(contentType)
        ? await services.soundAtAddress.with(await readAddressOf(body), buyer, hear)
        : await hear({
            bytes: await readAll(body),
            contentType: soundType(contentType),
            name: 'sound',
          });
    return { ...answer, headers: { ...answer.headers, 'dg-request-id': uuidOf(requestId) } };
  },
});

/** Returns the whole query: a second question mark is part of a value. */
function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  const bytes = await joinPieces(pieces);
  if (bytes.length > 0) return bytes;
  throw gatewayErrors.invalidRequest('The body is empty; it must be a file of sound.');
}

/** Reads the address in a JSON body of up to `addressBodyBytes` bytes. Throws when the body is longer. */
async function readAddressOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > DEEPGRAM_LIMITS.addressBodyBytes) {
      throw requestErrors.payloadTooLarge(DEEPGRAM_LIMITS.addressBodyBytes);
    }
    pieces.push(piece);
  }
  return readAddress(tryParseJson(Buffer.concat(pieces).toString('utf8')));
}

/** Returns a content type of audio or video. Undefined for other types, which are not sent on. */
const soundType = (said: string | undefined): string | undefined =>
  said !== undefined && /^(audio|video)\/[\w.+-]{1,64}$/.test(said) ? said : undefined;
