import { z } from 'zod';
import { gatewayErrors } from '../errors.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { TRANSCRIPT_FORMATS, type TranscriptionCall } from '../providers/transcription-rail.ts';

const Fields = z.object({
  model: z.string().min(1).max(MODEL_LIMITS.idChars),
  response_format: z.enum(TRANSCRIPT_FORMATS).default('json'),
  language: z.string().min(1).max(32).optional(),
  prompt: z.string().max(MODEL_LIMITS.transcription.promptChars).optional(),
  temperature: z.coerce.number().min(0).max(1).optional(),
  'timestamp_granularities[]': z
    .array(z.enum(['word', 'segment']))
    .max(2)
    .optional(),
  stream: z.enum(['true', 'false']).optional(),
});

/** Form as the API description shows it. All other fields are forwarded unchanged. */
export const TranscriptionForm = Fields.extend({
  file: z.any().meta({ type: 'string', format: 'binary' }),
});

/** Fields and file of a multipart form. */
type Form = {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly file:
    | {
        readonly field: string;
        readonly fileName: string;
        readonly contentType: string | undefined;
        readonly bytes: Buffer;
      }
    | undefined;
};

export type TranscriptionRequest = Omit<TranscriptionCall, 'file'> & {
  readonly file: Omit<TranscriptionCall['file'], 'durationMs'>;
  readonly stream: boolean;
};

const LIST = 'timestamp_granularities[]';

/** Reads the form of a transcription request. Throws the refusal of an invalid form. */
export function readTranscription({ fields, file }: Form): TranscriptionRequest {
  const parsed = Fields.safeParse(byName(fields));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const param = String(issue?.path[0] ?? '');
    throw gatewayErrors.invalidRequest(`${param}: ${issue?.message}`, param);
  }
  if (file === undefined || file.field !== 'file') {
    throw gatewayErrors.invalidRequest('file: must be a file to be transcribed', 'file');
  }
  const { model, language, prompt, response_format: format, stream } = parsed.data;
  const { bytes, contentType, fileName } = file;
  return {
    model,
    format,
    language,
    prompt,
    granularities: parsed.data[LIST],
    stream: stream === 'true',
    file: { bytes, contentType, name: fileName === '' ? 'sound' : fileName },
    fields: fields.filter(([name]) => name !== 'model'),
  };
}

/**
 * Returns the fields by name. Throws the refusal of a repeated field that is no list. Some clients write
 * `timestamp_granularities` without its brackets.
 */
function byName(fields: Form['fields']): Record<string, unknown> {
  const values = new Map<string, string | string[]>();
  for (const [sent, value] of fields) {
    const name = sent === 'timestamp_granularities' ? LIST : sent;
    const before = values.get(name);
    if (name === LIST) values.set(name, [...(before ?? []), value]);
    else if (before === undefined || name.endsWith('[]')) values.set(name, value);
    else throw gatewayErrors.invalidRequest(`${name}: came twice`, name);
  }
  return Object.fromEntries(values);
}
