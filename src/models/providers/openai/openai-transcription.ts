import { Readable } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { joinPieces } from '../../../kernel/long-work.ts';
import type { Random } from '../../../kernel/random.ts';
import { renderFor } from '../local/render-transcript.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { openPool } from '../open-pool.ts';
import { failed, type Outcome } from '../outcome.ts';
import {
  NOTHING_TOLD,
  type TranscriptionAnswer,
  type TranscriptionCall,
  type TranscriptionRail,
  type TranscriptStream,
} from '../transcription-rail.ts';
import { contentTypeOf, type Upstream, type UpstreamLimits } from '../upstream-pool.ts';
import type { CollectedAnswer } from './collect-answer.ts';
import { writeForm } from './form-body.ts';
import { bearer } from './openai.ts';
import { readWhole } from './read-whole.ts';
import { RelayedTranscript, streamOfTranscript } from './transcript-stream.ts';
import { readTranscriptUsage } from './transcript-usage.ts';

type Streaming = { readonly stream: TranscriptStream };

/**
 * Creates the transcription rail of an upstream in the OpenAI dialect. The request is a form with the upstream's name of the
 * model.
 */
export function createOpenAiTranscriptionRail(deps: {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<UpstreamLimits> | undefined;
}): TranscriptionRail & AsyncDisposable {
  const path = '/audio/transcriptions';
  const pool = openPool({ ...deps, path, credential: bearer });
  const formOf = ({ model, fields, file, format, paymentMethod }: TranscriptionCall) => {
    const contentType = file.contentType ?? 'application/octet-stream';
    const asked = format === 'listen' ? [...fields, ...listenFields(model)] : fields;
    const hinted = SEVERAL_LANGUAGES.has(model) ? asked.map(inPlural) : asked;
    const form = writeForm(deps.random, [['model', model], ...hinted], { ...file, contentType });
    return {
      paymentMethod,
      body: Readable.from(form.pieces),
      headers: { 'content-type': form.contentType, 'content-length': String(form.length) },
    };
  };
  return {
    transcribe: (call, signal) =>
      pool.whole(
        () => formOf(call),
        signal,
        (answer) => outcomeOf(answer, call),
      ),
    stream: (call, signal) => pool.opened(() => formOf(call), signal, streamOf),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

/** Models that take a list of languages. Older models take one language. */
const SEVERAL_LANGUAGES: ReadonlySet<string> = new Set(['gpt-transcribe']);

const inPlural = ([name, value]: TranscriptionCall['fields'][number]): [string, string] => [
  name === 'language' ? 'languages[]' : name,
  value,
];

/** Models that report the times of words and segments. Other models return only the text. */
const TIMED = /whisper|parakeet/;

/** Form fields for a request in Deepgram's protocol, whose answer this server writes from the upstream's. */
const listenFields = (model: string): [string, string][] =>
  TIMED.test(model)
    ? [
        ['response_format', 'verbose_json'],
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[]', 'segment'],
      ]
    : [['response_format', 'json']];

async function outcomeOf(
  answer: CollectedAnswer,
  call: TranscriptionCall,
): Promise<Outcome<TranscriptionAnswer>> {
  const { format } = call;
  const { body, status } = answer;
  if (format === 'listen') return listenOutcome(answer, call);
  const whole = { kind: 'completed', status, body, contentType: contentTypeOf(answer) } as const;
  if (!format.endsWith('json')) return { ...whole, usage: NOTHING_TOLD };
  const transcript = await readTranscript(body);
  if (transcript === undefined) return failed('broken', 'not a transcript', status);
  return { ...whole, usage: readTranscriptUsage(transcript) };
}

async function listenOutcome(
  { body, status }: CollectedAnswer,
  call: TranscriptionCall,
): Promise<Outcome<TranscriptionAnswer>> {
  const transcript = await readTranscript(body);
  if (transcript === undefined) return failed('broken', 'not a transcript', status);
  const rendered = await renderFor(readWhole(transcript, call.file.durationMs), 'listen', call);
  return { kind: 'completed', status, ...rendered, usage: readTranscriptUsage(transcript) };
}

/**
 * Returns the stream of an answer. An answer that came whole, as from some upstreams and models, becomes a stream of two
 * events.
 */
async function streamOf(answer: OpenedAnswer): Promise<Outcome<Streaming>> {
  const { status } = answer;
  if (contentTypeOf(answer).startsWith('text/event-stream')) {
    const stream = new RelayedTranscript(answer);
    await stream.begin();
    return { kind: 'completed', status, stream };
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const transcript = await readTranscript(await joinPieces(chunks));
  if (transcript === undefined)
    return failed('broken', 'neither a stream nor a transcript', status);
  const stream = streamOfTranscript(transcript, readTranscriptUsage(transcript));
  return { kind: 'completed', status, stream };
}

async function readTranscript(body: Buffer): Promise<Json | undefined> {
  const value = await parseJsonInTurns(body, JSON_LIMITS.upstream).catch(() => undefined);
  return isObject(value) && typeof value.text === 'string' ? value : undefined;
}
