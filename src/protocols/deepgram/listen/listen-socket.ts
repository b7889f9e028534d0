import { z } from 'zod';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import {
  type SocketContext,
  type SocketHandler,
  socketRoute,
} from '../../../http/route/socket-route.ts';
import { type Clock, isoTime } from '../../../kernel/clock.ts';
import { BRAND, uuidOf } from '../../../kernel/ids.ts';
import { SPEND_LIMITS } from '../../../spend/limits.ts';
import { VOICE_LIMITS } from '../../../voice/limits.ts';
import { EventAllowance } from '../../../voice/live/event-allowance.ts';
import type { VoiceDeps } from '../../../voice/live/voice-deps.ts';
import { NOT_RAW_AUDIO, TOO_MANY_EVENTS } from '../../../voice/live/voice-endings.ts';
import type { TranscriptionStream } from '../../../voice/transcription/transcription-stream.ts';
import { parseClientMessage } from '../../client-message.ts';
import { type ListenRelays, openTranscription } from '../../open-transcription.ts';
import { readSocketBuyer } from '../../read-socket-buyer.ts';
import { tracedFrom } from '../../traced-from.ts';
import { isContainer } from '../container.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';
import { fullModelId } from '../model-name.ts';
import { Flag, notDone } from '../query-shape.ts';
import type { ListenParameters } from './listen-dialect.ts';

const { min, max } = VOICE_LIMITS.sampleRateHz;
const { min: minEndMs, max: maxEndMs } = DEEPGRAM_LIMITS.listen.utteranceEndMs;

/** The query parameters of the route. The recognisers of this server ignore other parameters; an upstream may use them. */
const Query = z
  .looseObject({
    model: z.string().min(1).max(128),
    encoding: z.enum(['linear16', 'mulaw', 'alaw']).optional(),
    sample_rate: z.coerce.number().int().min(min).max(max).default(16_000),
    channels: z.coerce.number().int().min(1).max(1, 'one channel is heard, and no more').default(1),
    language: z.string().max(16).optional(),
    interim_results: Flag,
    vad_events: Flag,
    punctuate: Flag,
    smart_format: Flag,
    endpointing: z
      .union([z.enum(['true', 'false']), z.coerce.number().int().nonnegative()])
      .default('true'),
    utterance_end_ms: z.coerce.number().int().min(minEndMs).max(maxEndMs).optional(),
    multichannel: notDone('one channel is heard, and no more'),
    callback: notDone('results come over this socket alone'),
    /** JSGF grammar for the model `local/grammar`. */
    prompt: z.string().max(ENGINE_LIMITS.grammar.chars).optional(),
    customer_id: z.string().max(SPEND_LIMITS.tag.idChars).optional(),
  })
  .refine(
    ({ interim_results, utterance_end_ms }) => utterance_end_ms === undefined || interim_results,
    { path: ['utterance_end_ms'], message: 'needs interim_results=true' },
  );

type Context = SocketContext<unknown, typeof Query>;

/**
 * Live transcription for Deepgram's clients: the session of `/v1/audio/transcriptions/stream` in their protocol. Frames
 * of an upstream with that protocol pass unchanged, both ways.
 */
export const createListenSocket = (deps: VoiceDeps, relays?: ListenRelays) =>
  socketRoute()({
    path: '/v1/listen',
    credential: 'agent',
    summary: 'Transcribe audio while it is spoken, for clients of Deepgram.',
    // Some of Deepgram's clients refuse an upgrade without this header.
    headers: (requestId) => [['dg-request-id', uuidOf(requestId)]],
    authenticateFrom: ['bearer', 'subprotocol'],
    acceptsTokenScheme: true,
    admitsClientSecrets: 'deepgram',
    protocols: ['token', 'bearer', BRAND.sttProtocol],
    query: Query,
    envelope: 'deepgram',
    async open(context) {
      const stream = await openListen({ ...tracedFrom(deps, context), relays }, context);
      return new ListenHandler(deps, stream, context.query.encoding === undefined);
    },
  });

function openListen(
  deps: VoiceDeps & { readonly relays: ListenRelays | undefined },
  context: Context,
): Promise<TranscriptionStream> {
  const { query, rawQuery, requestId } = context;
  const { encoding = 'linear16', endpointing, language, prompt } = query;
  const parameters: ListenParameters = {
    interimResults: query.interim_results,
    endpointingMs: endpointingMs(endpointing),
    utteranceEndMs: query.utterance_end_ms,
    vadEvents: query.vad_events,
    punctuated: query.punctuate || query.smart_format,
  };
  const created = isoTime(deps.clock.now());
  return openTranscription(deps, {
    buyer: readSocketBuyer(context, query.customer_id),
    asked: askedOf(rawQuery),
    model: fullModelId(deps.catalogue, query.model),
    encoding,
    language,
    prompt,
    sampleRateHz: query.sample_rate,
    answerWith: context.answerWith,
    dialect: ({ model: { id }, source: { provider, upstreamModel } }) => ({
      kind: 'listen',
      parameters,
      stream: {
        requestId: uuidOf(requestId),
        created,
        model: { id, arch: upstreamModel, version: provider },
      },
    }),
  });
}

/** Query parameters that are not passed on to an upstream, or that this server sets there itself. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'model',
  'encoding',
  'sample_rate',
  'channels',
  'language',
  'prompt',
  'customer_id',
  'multichannel',
  'callback',
  'callback_method',
]);

/** Returns the part of the client's query that goes to the transcriber, as the client wrote it. */
const askedOf = (rawQuery: string): [name: string, value: string][] =>
  [...new URLSearchParams(rawQuery)].filter(([name]) => !NOT_PASSED_ON.has(name));

function endpointingMs(value: 'true' | 'false' | number): number | false {
  if (typeof value === 'number') return value;
  return value === 'true' ? DEEPGRAM_LIMITS.listen.endpointingMs.usual : false;
}

/** Handles the messages of one client for its stream. */
class ListenHandler implements SocketHandler {
  readonly #stream: TranscriptionStream;
  readonly #clock: Clock;
  readonly #allowance: EventAllowance;
  /** Without a declared encoding, the first bytes show whether the audio is raw. */
  #isUnchecked: boolean;

  constructor({ clock }: VoiceDeps, stream: TranscriptionStream, isUnchecked: boolean) {
    this.#stream = stream;
    this.#clock = clock;
    this.#allowance = new EventAllowance(clock.monotonicMs());
    this.#isUnchecked = isUnchecked;
  }

  opened(connection: Parameters<SocketHandler['opened']>[0]): void {
    this.#stream.attach(connection);
  }

  message(data: string | Uint8Array): void {
    if (typeof data !== 'string') this.#audio(data);
    else if (this.#allowance.take(this.#clock.monotonicMs())) this.#text(data);
    else this.#stream.cutOff(TOO_MANY_EVENTS);
  }

  drained(): void {
    this.#stream.drained();
  }

  draining(): void {
    this.#stream.drain();
  }

  closed(): void {
    this.#stream.socketClosed();
  }

  #audio(bytes: Uint8Array): void {
    const isFirst = this.#isUnchecked && bytes.length > 0;
    if (isFirst) this.#isUnchecked = false;
    if (isFirst && isContainer(bytes)) this.#stream.cutOff(NOT_RAW_AUDIO);
    else this.#stream.audio(bytes);
  }

  #text(text: string): void {
    const message = parseClientMessage(text);
    if (message === undefined) {
      this.#stream.misunderstood('A message is binary audio or a short JSON object.');
      return;
    }
    const problem = this.#stream.isRelayed ? undefined : problemOf(message);
    if (problem !== undefined) this.#stream.misunderstood(problem);
    else if (message.type === 'CloseStream') this.#stream.finish();
    else this.#stream.message(String(message.type), text);
  }
}

/** Returns the reason why a recogniser of this server cannot handle a message. Undefined when it can. */
function problemOf({ channel, type }: Readonly<Record<string, unknown>>): string | undefined {
  if (type === 'Finalize' && channel !== undefined && channel !== 0)
    return 'There is one channel, 0.';
  if (type === 'KeepAlive' || type === 'Finalize' || type === 'CloseStream') return undefined;
  return 'The type is one of KeepAlive, Finalize and CloseStream.';
}
