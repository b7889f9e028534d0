import { type MultipartForm, MultipartRefused, readMultipart } from '../../http/body/multipart.ts';
import { HTTP_LIMITS } from '../../http/limits.ts';
import { requestErrors } from '../../http/route/errors.ts';
import { route, streamedBody } from '../../http/route/route.ts';
import { gatewayErrors } from '../../models/errors.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';
import type { Transcriptions } from '../../models/transcription/transcribe.ts';
import {
  readTranscription,
  TranscriptionForm,
} from '../../models/transcription/transcription-request.ts';

/** Sells the transcript of one file, from the cheapest source of the model, metered by the second of sound. */
export const createTranscription = route<{ transcriptions: Transcriptions }>()({
  method: 'POST',
  path: '/v1/audio/transcriptions',
  credential: 'agent',
  summary: 'Buy the transcript of a file, metered by the second of sound',
  envelope: 'openai',
  rateLimit: 'gateway',
  providerKey: 'optional',
  idempotent: true,
  body: streamedBody('multipart/form-data', TranscriptionForm),
  maxBodyBytes: MODEL_LIMITS.transcription.fileBytes + HTTP_LIMITS.form.fieldsBytes,

  async handle(context) {
    const { body, headers, services } = context;
    const request = readTranscription(await readForm(headers.get('content-type'), body));
    return services.transcriptions.transcribe({ buyer: readBuyer(context), request });
  },
});

const BOUNDS = {
  fileBytes: MODEL_LIMITS.transcription.fileBytes,
  fieldsBytes: HTTP_LIMITS.form.fieldsBytes / 2,
  parts: HTTP_LIMITS.form.parts,
  partHeadBytes: HTTP_LIMITS.form.partHeadBytes,
};

async function readForm(
  contentType: string | undefined,
  body: AsyncIterable<Uint8Array>,
): Promise<MultipartForm> {
  try {
    return await readMultipart(contentType, body, BOUNDS);
  } catch (error) {
    if (!(error instanceof MultipartRefused)) throw error;
    if (error.why === 'file_too_large') {
      throw requestErrors.payloadTooLarge(MODEL_LIMITS.transcription.fileBytes);
    }
    throw gatewayErrors.invalidRequest(error.message);
  }
}
