import { z } from 'zod';
import type { AnyRoute, Context } from '../../http/route/route.ts';
import { parseObject } from '../../kernel/json/parse-json.ts';
import { gatewayErrors } from '../../models/errors.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';
import type { Transcriptions } from '../../models/transcription/transcribe.ts';
import { readTranscription } from '../../models/transcription/transcription-request.ts';
import { createTranscription } from '../../routes/audio/transcriptions.ts';
import { MCP_LIMITS } from '../limits.ts';
import { tool } from '../tool.ts';
import { costOf, toolResult } from '../tool-result.ts';

const { audioBytes, fileNameChars } = MCP_LIMITS;

const Input = z.object({
  audio: z
    .string()
    .min(1)
    .max(Math.ceil(audioBytes / 3) * 4)
    .describe(`A sound file in base64, of at most ${audioBytes} bytes`),
  model: z.string().min(1).max(MODEL_LIMITS.idChars).default('local/pocketsphinx'),
  language: z.string().min(1).max(32).optional().describe('Such as en'),
  prompt: z.string().max(MODEL_LIMITS.transcription.promptChars).optional(),
  fileName: z.string().min(1).max(fileNameChars).optional(),
});

type File = z.output<typeof FileBody>;
const FileBody = z.object({
  fields: z.array(z.tuple([z.string(), z.string()])),
  bytes: z.custom<Buffer>((value) => Buffer.isBuffer(value)),
  fileName: z.string(),
});

/** Transcription route that takes the file from memory instead of from a form. Everything else is as the route declares it. */
const fromMemory: AnyRoute = {
  ...createTranscription,
  body: FileBody,
  handle(
    context: Context<
      { readonly transcriptions: Transcriptions },
      'agent',
      undefined,
      undefined,
      typeof FileBody
    >,
  ) {
    const { body, services } = context;
    const { bytes, fields, fileName } = body;
    const file = { field: 'file', fileName, contentType: undefined, bytes };
    const request = readTranscription({ fields, file });
    return services.transcriptions.transcribe({ buyer: readBuyer(context), request });
  },
};

/** Transcribes the speech in a file. */
export const transcribe = tool({
  name: 'transcribe',
  title: 'Speech to text',
  description:
    'Answers what is said in a sound file. Charged by the second of sound: estimate tells the price.',
  isReadOnly: false,
  input: Input,

  async call({ audio, fileName, language, model, prompt }, ask) {
    const bytes = Buffer.from(audio, 'base64');
    if (bytes.length === 0) throw gatewayErrors.invalidRequest('audio: is not base64', 'audio');
    const named = { model, language, prompt };
    const fields = Object.entries(named).filter(
      (field): field is [string, string] => field[1] !== undefined,
    );
    const body: File = { fields, bytes, fileName: fileName ?? `sound.${extensionOf(bytes)}` };
    const answer = await ask(fromMemory, { body });
    return toolResult({ ...parseObject(answer.bytes), model, ...costOf(answer) });
  },
});

/** Returns a file name extension for the audio, by its first bytes. Some vendors recognise the format only by the name. */
function extensionOf(bytes: Buffer): string {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('RIFF')) return 'wav';
  if (head.startsWith('OggS')) return 'ogg';
  if (head.startsWith('fLaC')) return 'flac';
  if (head.startsWith('\x1a\x45\xdf\xa3')) return 'webm';
  return head.slice(4, 8) === 'ftyp' ? 'm4a' : 'mp3';
}
