import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SOUND_CODINGS, type SoundCoding } from '../../../../media/coding.ts';
import { wavHeader } from '../../../../media/wav.ts';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import { ApiError } from '../../../kernel/api-error.ts';
import { type Clock, isoTime } from '../../../kernel/clock.ts';
import { uuidOf } from '../../../kernel/ids.ts';
import { COPY_BYTES_PER_TURN, joinPieces, turnForLongWork } from '../../../kernel/long-work.ts';
import type { Catalogue } from '../../../models/catalogue/catalogue.ts';
import { gatewayErrors } from '../../../models/errors.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
import type { Relayed } from '../../../models/purchase/answer.ts';
import type { Buyer } from '../../../models/purchase/buyer.ts';
import { spokenModel } from '../../../models/transcription/listen-options.ts';
import type { Transcriptions } from '../../../models/transcription/transcribe.ts';
import { SPEND_LIMITS } from '../../../spend/limits.ts';
import { VOICE_LIMITS } from '../../../voice/limits.ts';
import { isContainer, soundName } from '../container.ts';
import { deepgramErrors } from '../errors.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';
import { fullModelId } from '../model-name.ts';
import { Flag, notDone, valuesOf } from '../query-shape.ts';
import { requireDelivered } from '../require-delivered.ts';
import { listenAnswer } from './render-listen.ts';

const { min, max } = VOICE_LIMITS.sampleRateHz;
const ONE_CHANNEL = 'one channel is heard, and no more';

/** Values of `encoding` that name a file format. They have no effect, since the file itself states its format. */
const OF_FILES = ['flac', 'opus', 'ogg-opus', 'mp3'] as const;

/**
 * The query parameters for a file: https://developers.deepgram.com/reference/speech-to-text-api/listen. Other parameters are
 * left to the upstream.
 */
export const ListenFileQuery = z.looseObject({
  /** Model id; the default is Deepgram's. */
  model: z.string().min(1).max(MODEL_LIMITS.idChars).default('base'),
  language: z.string().min(1).max(32).optional(),
  punctuate: Flag,
  smart_format: Flag,
  utterances: Flag,
  utt_split: z.coerce.number().min(0.1).max(60).default(0.8),
  encoding: z.enum([...SOUND_CODINGS, ...OF_FILES]).optional(),
  sample_rate: z.coerce.number().int().min(min).max(max).optional(),
  channels: z.coerce.number().int().min(1).max(1, ONE_CHANNEL).default(1),
  multichannel: notDone(ONE_CHANNEL),
  callback: notDone('the transcript comes with the answer alone'),
  /** JSGF grammar for the model `local/grammar`. */
  prompt: z.string().max(ENGINE_LIMITS.grammar.chars).optional(),
  tag: z.string().max(SPEND_LIMITS.tag.idChars).optional(),
});

export type ListenFileQuery = z.output<typeof ListenFileQuery>;

export type HeardFile = {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
  readonly name: string;
};

type ListenOrder = {
  readonly buyer: Buyer;
  readonly requestId: string;
  readonly query: ListenFileQuery;
  /** The query string as the client wrote it, for an upstream that receives it unchanged. */
  readonly rawQuery: string;
  readonly file: HeardFile;
};

export interface ListenFiles {
  /**
   * Transcribes a file and returns Deepgram's response. Throws the gateway's refusals; a refusal of an upstream is thrown as a
   * refusal of the gateway.
   */
  hear(order: ListenOrder): Promise<Relayed>;
}

/**
 * Transcribes files in Deepgram's protocol: the same purchase as `POST /v1/audio/transcriptions`, with another request and
 * response.
 */
export const createListenFiles = (deps: {
  readonly transcriptions: Transcriptions;
  readonly catalogue: Pick<Catalogue, 'find' | 'findKeyed'>;
  readonly clock: Clock;
}): ListenFiles => ({
  async hear({ buyer, file, query, rawQuery, requestId }) {
    const asked = fullModelId(deps.catalogue, query.model);
    const { id: model, language } = spokenModel(deps.catalogue, asked, query.language);
    const tags = valuesOf(rawQuery, 'tag');
    const sha256 = await digestOf(file.bytes);
    const { prompt, punctuate, smart_format, utterances, utt_split } = query;
    const answer = await deps.transcriptions.transcribe({
      buyer,
      request: {
        model,
        format: 'listen',
        listen: listenAnswer({
          options: optionsOf(rawQuery),
          punctuated: punctuate || smart_format,
          uttSplitMs: utterances ? 1_000 * utt_split : undefined,
          metadata: {
            request_id: uuidOf(requestId),
            sha256,
            created: isoTime(deps.clock.now()),
            model,
            ...(tags.length > 0 && { tags }),
          },
        }),
        language,
        prompt,
        stream: false,
        file: await withHead(file, query),
        fields: language === undefined ? [] : [['language', language]],
      },
    });
    const { body } = answer;
    if (!(body instanceof Uint8Array)) throw new Error('a transcript in one piece is whole');
    return requireDelivered({ ...answer, body });
  },
});

/** Query parameters that are not passed on to an upstream, or that this server sets there itself. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'model',
  'encoding',
  'sample_rate',
  'channels',
  'language',
  'prompt',
  'customer_id',
  'tag',
  'multichannel',
  'callback',
  'callback_method',
  'extra',
]);

const optionsOf = (rawQuery: string): [name: string, value: string][] =>
  [...new URLSearchParams(rawQuery)].filter(([name]) => !NOT_PASSED_ON.has(name));

/** Returns the SHA-256 of a file. A long file is hashed over several turns of the event loop. */
async function digestOf(bytes: Buffer): Promise<string> {
  const digest = createHash('sha256');
  const step = COPY_BYTES_PER_TURN;
  for (let at = 0; at < bytes.length; at += step) {
    if (at > 0) await turnForLongWork();
    digest.update(bytes.subarray(at, at + step));
  }
  return digest.digest('hex');
}

/**
 * Puts a WAV header before raw samples, and gives every file a name with the extension of its format. Throws the refusal of raw
 * samples whose rate is missing from the query.
 */
async function withHead(file: HeardFile, query: ListenFileQuery): Promise<HeardFile> {
  const { bytes, name } = file;
  const coding = SOUND_CODINGS.find((name): name is SoundCoding => name === query.encoding);
  if (coding === undefined || isContainer(bytes)) {
    return { ...file, name: soundName(name, bytes) };
  }
  const { sample_rate: sampleRateHz } = query;
  if (sampleRateHz === undefined) {
    throw gatewayErrors.invalidRequest('sample_rate: is needed with encoding', 'sample_rate');
  }
  const head = wavHeader({ coding, sampleRateHz, dataBytes: bytes.length });
  return { bytes: await joinPieces([head, bytes]), contentType: 'audio/wav', name: 'sound.wav' };
}

/** Returns the URL in a request body that names a file by its address. Throws the refusal of other bodies. */
export function readAddress(json: unknown): string {
  const parsed = z.object({ url: z.string().min(1).max(DEEPGRAM_LIMITS.urlChars) }).safeParse(json);
  if (parsed.success) return parsed.data.url;
  throw gatewayErrors.invalidRequest('url: must be the address of a file of sound', 'url');
}

/** Turns a refusal about the file at a URL into Deepgram's error for such files. Returns other errors unchanged. */
export function remoteRefusal(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const [detail] = (error.fields.details ?? []) as readonly { readonly message?: string }[];
  const isAboutFile = detail !== undefined || error.status === 502 || error.status === 413;
  if (!isAboutFile) return error;
  return deepgramErrors.remoteContent(detail?.message ?? String(error.fields.message));
}
