import { z } from 'zod';
import { EventAllowance } from '../actors/realtime/event-allowance.ts';
import { listenDialect } from '../actors/transcription/listen-dialect.ts';
import type { TranscriptionStream } from '../actors/transcription-stream.ts';
import type { VoiceDeps } from '../actors/voice-deps.ts';
import { NOT_RAW_AUDIO, TOO_MANY_EVENTS } from '../actors/voice-endings.ts';
import type { Catalogue } from '../gateway/catalogue.ts';
import { type SocketContext, type SocketHandler, socketRoute } from '../http/socket-route.ts';
import { isoTime } from '../kernel/clock.ts';
import { BRAND } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import { isContainer } from './audio-container.ts';
import { parseClientMessage } from './client-message.ts';
import { openTranscription } from './open-transcription.ts';
import { readSocketSpender } from './read-socket-spender.ts';

const { min, max } = LIMITS.sampleRateHz;
const { min: minEndMs, max: maxEndMs } = LIMITS.utteranceEndMs;

const Flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true');

/** What would change what is heard or who hears it, and is not done here. Everything else unknown is passed over. */
const notDone = (why: string) =>
  z
    .string()
    .optional()
    .refine((value) => value === undefined || value === 'false', why);

const Query = z
  .object({
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
    redact: notDone('nothing is redacted here'),
    callback: notDone('results come over this socket alone'),
    /** A JSGF grammar, for `local/grammar`. */
    prompt: z.string().max(LIMITS.grammarChars).optional(),
    customer_id: z.string().max(LIMITS.taskIdChars).optional(),
  })
  .refine(
    ({ interim_results, utterance_end_ms }) => utterance_end_ms === undefined || interim_results,
    { path: ['utterance_end_ms'], message: 'needs interim_results=true' },
  );

type Context = SocketContext<unknown, typeof Query>;

/** Live transcription as Deepgram's clients speak it: the session of `/v1/audio/transcriptions/stream`, in their words. */
export const createListenSocket = (deps: VoiceDeps) =>
  socketRoute()({
    path: '/v1/listen',
    credential: 'agent',
    summary: 'Transcribe audio while it is spoken, for clients of Deepgram.',
    authenticateFrom: ['bearer', 'subprotocol'],
    acceptsTokenScheme: true,
    protocols: ['token', 'bearer', BRAND.sttProtocol],
    query: Query,
    envelope: 'openai',
    async open(context) {
      const stream = await openListen(deps, context);
      return new ListenHandler(deps, stream, context.query.encoding === undefined);
    },
  });

function openListen(deps: VoiceDeps, context: Context): Promise<TranscriptionStream> {
  const { caller, headers, query, requestId } = context;
  const { encoding = 'linear16', endpointing, language, prompt } = query;
  const wishes = {
    interimResults: query.interim_results,
    endpointingMs: endpointingMs(endpointing),
    utteranceEndMs: query.utterance_end_ms,
    vadEvents: query.vad_events,
    punctuated: query.punctuate || query.smart_format,
  };
  const created = isoTime(deps.clock.now());
  return openTranscription(deps, {
    spender: readSocketSpender(caller, headers, query.customer_id),
    model: fullModelId(deps.catalogue, query.model),
    ...{ encoding, language, prompt },
    sampleRateHz: query.sample_rate,
    dialect: ({ model: { id }, source: { provider, upstreamModel } }) =>
      listenDialect(wishes, {
        ...{ requestId, created },
        model: { id, arch: upstreamModel, version: provider },
      }),
  });
}

function endpointingMs(value: 'true' | 'false' | number): number | false {
  if (typeof value === 'number') return value;
  return value === 'true' ? LIMITS.listenEndpointingMs.usual : false;
}

/** These clients name a model without its maker, who to them is only one. */
const fullModelId = (catalogue: Catalogue, model: string): string =>
  model.includes('/') || catalogue.find(model) !== undefined ? model : `deepgram/${model}`;

/** One client of the protocol: what its messages mean to the stream. */
class ListenHandler implements SocketHandler {
  readonly #stream: TranscriptionStream;
  readonly #allowance: EventAllowance;
  /** Without a declared encoding the first bytes tell whether they are sound at all. */
  #isUnchecked: boolean;

  constructor(deps: VoiceDeps, stream: TranscriptionStream, isUnchecked: boolean) {
    this.#stream = stream;
    this.#allowance = new EventAllowance(deps.clock);
    this.#isUnchecked = isUnchecked;
  }

  opened(connection: Parameters<SocketHandler['opened']>[0]): void {
    this.#stream.attach(connection);
  }

  message(data: string | Uint8Array): void {
    if (typeof data !== 'string') this.#audio(data);
    else if (this.#allowance.take()) this.#text(data);
    else this.#stream.cutOff(TOO_MANY_EVENTS);
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
      this.#stream.misunderstood('A message is binary audio or a JSON object.');
      return;
    }
    switch (message.type) {
      case 'KeepAlive':
        this.#stream.keepAlive();
        break;
      case 'Finalize':
        if (message.channel === undefined || message.channel === 0) this.#stream.finalize();
        else this.#stream.misunderstood('There is one channel, 0.');
        break;
      case 'CloseStream':
        this.#stream.finish();
        break;
      default:
        this.#stream.misunderstood('The type is one of KeepAlive, Finalize and CloseStream.');
    }
  }
}
