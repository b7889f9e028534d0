import type { Clock } from '../../../kernel/clock.ts';
import type { Random } from '../../../kernel/random.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import { fileOptions } from '../../transcription/listen-options.ts';
import { renderFor, usageOf } from '../local/render-transcript.ts';
import { openPool } from '../open-pool.ts';
import { streamOfTranscript } from '../openai/transcript-stream.ts';
import type { Outcome } from '../outcome.ts';
import {
  NOTHING_TOLD,
  type PlainFormat,
  type TranscriptionCall,
  type TranscriptionRail,
  type WholeTranscript,
} from '../transcription-rail.ts';
import type { Upstream, UpstreamLimits } from '../upstream-pool.ts';
import { orderOver } from './pool-client.ts';
import { segmentWords } from './segment-words.ts';
import type { HearingApi, VendorApi, VendorTranscript } from './vendor-api.ts';

type VendorHearingDeps = {
  readonly api: VendorApi & { readonly hearing: HearingApi };
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<UpstreamLimits> | undefined;
};

/**
 * Creates the transcription rail of a vendor with its own protocol, in the formats of this API. The duration of the file is
 * billed; usage that the vendor reports is ignored.
 */
export function createVendorTranscriptionRail(
  deps: VendorHearingDeps,
): TranscriptionRail & AsyncDisposable {
  const { api, clock, random } = deps;
  // Transcripts of hours of audio are longer than other answers.
  const limits = { responseBytes: MODEL_LIMITS.vendor.answerBytes, ...deps.limits };
  const pool = openPool({ ...deps, limits, path: '', credential: api.credential });
  const hear = async (call: TranscriptionCall, signal: StopSignal): Promise<Outcome<Heard>> => {
    const { file, format, language, model, paymentMethod } = call;
    if (format === 'diarized_json') return NO_SPEAKERS;
    const contentType = file.contentType ?? 'application/octet-stream';
    const wantsWords = format !== 'json' && format !== 'text';
    const asked = optionsOf(api, call);
    if (asked.kind === 'unfit') return asked;
    const { options } = asked;
    const heard = { file: { ...file, contentType }, language, model, wantsWords, options };
    const order = { signal, paymentMethod };
    return orderOver({ pool, clock, random, totalMs: limits.totalMs }, order, async (door) => {
      const transcript = await api.hearing.hear(door, heard);
      const { results } = transcript;
      return { whole: await wholeOf(transcript, call), format, results };
    });
  };
  const { speaksListen = false } = api.hearing;
  return {
    speaksListen,
    async transcribe(call, signal) {
      const outcome = await hear(call, signal);
      if (outcome.kind !== 'completed') return outcome;
      const { format, results, whole, ...head } = outcome;
      const rendered =
        call.listen !== undefined && results !== undefined
          ? call.listen.relay(results, call)
          : renderFor(whole, format, call);
      return { ...head, ...(await rendered), usage: NOTHING_TOLD };
    },
    /** Streams the transcript as one event, because the vendor's answer comes whole. */
    async stream(call, signal) {
      const outcome = await hear(call, signal);
      if (outcome.kind !== 'completed') return outcome;
      const { whole, format: _, results: __, ...head } = outcome;
      const said = { text: whole.text, usage: usageOf(whole) };
      return { ...head, stream: streamOfTranscript(said, NOTHING_TOLD) };
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

type Heard = {
  readonly whole: WholeTranscript;
  readonly format: PlainFormat | 'listen';
  readonly results: unknown;
};

/** Options of a query in Deepgram's protocol that go to the vendor: none unless the vendor speaks the protocol. */
function optionsOf({ hearing }: VendorHearingDeps['api'], call: TranscriptionCall) {
  const { listen, paymentMethod } = call;
  if (hearing.speaksListen !== true || listen === undefined) {
    return { kind: 'fit', options: [] } as const;
  }
  return fileOptions(listen.options, paymentMethod?.ownKey !== undefined);
}

const NO_SPEAKERS = {
  kind: 'unfit',
  detail: 'This model does not tell speakers apart here.',
  param: 'response_format',
} as const;

async function wholeOf(
  { language = 'unknown', text, words }: VendorTranscript,
  { file: { durationMs } }: TranscriptionCall,
): Promise<WholeTranscript> {
  const untimed = text === '' ? [] : [{ startMs: 0, endMs: durationMs, text }];
  const segments = words.length === 0 ? untimed : await segmentWords(words);
  return { segments, text, durationMs, language };
}
