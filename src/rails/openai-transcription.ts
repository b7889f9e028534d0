import type { Clock } from '../kernel/clock.ts';
import { isObject, type Json } from '../kernel/json.ts';
import type { Random } from '../kernel/random.ts';
import type { Answer } from './collect-answer.ts';
import { writeForm } from './form-body.ts';
import type { OpenedAnswer } from './open-answer.ts';
import type { OpenAiRailLimits, OpenAiUpstream } from './openai.ts';
import { failed, type Outcome } from './outcome.ts';
import { RelayedTranscript, streamOfTranscript } from './transcript-stream.ts';
import { readTranscriptUsage } from './transcript-usage.ts';
import {
  NOTHING_TOLD,
  type TranscriptionAnswer,
  type TranscriptionCall,
  type TranscriptionRail,
  type TranscriptStream,
} from './transcription-rail.ts';
import { contentTypeOf, createUpstreamCalls, refusalOf } from './upstream-calls.ts';

type Streaming = { readonly stream: TranscriptStream };

/** An upstream that takes transcriptions in the OpenAI dialect: a form, with its own name of the model in it. */
export function createOpenAiTranscriptionRail(deps: {
  readonly upstream: OpenAiUpstream;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<OpenAiRailLimits> | undefined;
}): TranscriptionRail & AsyncDisposable {
  const calls = createUpstreamCalls({ ...deps, path: '/audio/transcriptions' });
  const formOf = ({ model, fields, file }: TranscriptionCall) =>
    writeForm(deps.random, [['model', model], ...fields], {
      ...file,
      contentType: file.contentType ?? 'application/octet-stream',
    });
  return {
    async transcribe(call, signal) {
      const answer = await calls.whole(formOf(call), signal);
      return 'kind' in answer ? answer : outcomeOf(answer, call);
    },
    async stream(call, signal) {
      return calls.opened(formOf(call), signal, streamOf);
    },
    [Symbol.asyncDispose]: () => calls[Symbol.asyncDispose](),
  };
}

const isSuccess = ({ status }: { readonly status: number }) => status >= 200 && status < 300;

function outcomeOf(answer: Answer, { format }: TranscriptionCall): Outcome<TranscriptionAnswer> {
  if (!isSuccess(answer)) return refusalOf(answer);
  const { body, headers, status } = answer;
  const whole = { kind: 'completed', status, body, contentType: contentTypeOf(headers) } as const;
  if (format !== 'json' && format !== 'verbose_json') return { ...whole, usage: NOTHING_TOLD };
  const transcript = readTranscript(body);
  if (transcript === undefined) return failed('broken', 'not a transcript', status);
  return { ...whole, usage: readTranscriptUsage(transcript) };
}

/** Some upstreams, or some of their models, answer whole whatever was asked for. */
async function streamOf(answer: OpenedAnswer): Promise<Outcome<Streaming>> {
  const { headers, status } = answer;
  if (isSuccess(answer) && contentTypeOf(headers).startsWith('text/event-stream')) {
    const stream = new RelayedTranscript(answer);
    await stream.begin();
    return { kind: 'completed', status, stream };
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (!isSuccess(answer)) return refusalOf({ status, headers, body });
  const transcript = readTranscript(body);
  if (transcript === undefined)
    return failed('broken', 'neither a stream nor a transcript', status);
  const stream = streamOfTranscript(transcript, readTranscriptUsage(transcript));
  return { kind: 'completed', status, stream };
}

function readTranscript(body: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isObject(value) && typeof value.text === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
