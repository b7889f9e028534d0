import { z } from 'zod';
import {
  type SocketContext,
  type SocketHandler,
  socketRoute,
} from '../../../http/route/socket-route.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { uuidOf } from '../../../kernel/ids.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
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
import { valuesOf } from '../query-shape.ts';
import { areInOrder, TurnThresholds } from './turn-thresholds.ts';

const { min, max } = VOICE_LIMITS.sampleRateHz;

/**
 * The query parameters of the route: https://developers.deepgram.com/reference/speech-to-text/listen-flux. Other parameters are
 * left to the upstream.
 */
const Query = z
  .looseObject({
    model: z.string().min(1).max(MODEL_LIMITS.idChars),
    encoding: z.enum(['linear16', 'mulaw', 'alaw']).optional(),
    sample_rate: z.coerce.number().int().min(min).max(max).default(16_000),
    ...TurnThresholds.shape,
    keyterm: z.string().max(SPEND_LIMITS.tag.idChars).optional(),
    customer_id: z.string().max(SPEND_LIMITS.tag.idChars).optional(),
  })
  .refine(areInOrder, {
    path: ['eager_eot_threshold'],
    message: 'must be at most eot_threshold',
  });

type Context = SocketContext<unknown, typeof Query>;

/**
 * Live transcription in turns, for Deepgram's clients: the session of `/v1/listen`, reported in Flux's messages. Frames of an
 * upstream with that protocol pass unchanged in both directions.
 */
export const createTurnsSocket = (deps: VoiceDeps, relays?: ListenRelays) =>
  socketRoute()({
    path: '/v2/listen',
    credential: 'agent',
    summary: 'Transcribe audio in turns while it is spoken, for clients of Deepgram.',
    headers: (requestId) => [['dg-request-id', uuidOf(requestId)]],
    authenticateFrom: ['bearer', 'subprotocol'],
    acceptsTokenScheme: true,
    admitsClientSecrets: 'deepgram',
    protocols: ['token', 'bearer'],
    query: Query,
    envelope: 'deepgram',
    async open(context) {
      const stream = await openTurns({ ...tracedFrom(deps, context), relays }, context);
      return handlerOf(deps.clock, stream, context.query.encoding === undefined);
    },
  });

function openTurns(
  deps: VoiceDeps & { readonly relays: ListenRelays | undefined },
  context: Context,
): Promise<TranscriptionStream> {
  const { query, rawQuery, requestId } = context;
  const { eager_eot_threshold, eot_threshold, eot_timeout_ms } = query;
  const keyterms = valuesOf(rawQuery, 'keyterm');
  const eager = eager_eot_threshold === undefined ? {} : { eager_eot_threshold };
  return openTranscription(deps, {
    buyer: readSocketBuyer(context, query.customer_id),
    asked: askedOf(rawQuery),
    model: fullModelId(deps.catalogue, query.model),
    encoding: query.encoding ?? 'linear16',
    language: undefined,
    prompt: undefined,
    sampleRateHz: query.sample_rate,
    isOfTurns: true,
    answerWith: context.answerWith,
    dialect: () => ({
      kind: 'turns',
      settings: {
        thresholds: { eot_threshold, eot_timeout_ms, ...eager },
        keyterms,
      },
      stream: { requestId: uuidOf(requestId) },
    }),
  });
}

/** Query parameters that are not passed on to an upstream, or that this server sets there itself. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'model',
  'encoding',
  'sample_rate',
  'customer_id',
  'tag',
]);

const askedOf = (rawQuery: string): [name: string, value: string][] =>
  [...new URLSearchParams(rawQuery)].filter(([name]) => !NOT_PASSED_ON.has(name));

/** Close frame for a client message that cannot be parsed. The stream ends, as it does at Deepgram. */
const UNPARSABLE = {
  code: 1008,
  reason: 'UNPARSABLE_CLIENT_MESSAGE',
  error: {
    code: 'UNPARSABLE_CLIENT_MESSAGE',
    message: 'A message is binary audio, Configure, ForceEndTurn or CloseStream.',
  },
} as const;

const PASSED_ON: ReadonlySet<unknown> = new Set(['Configure', 'ForceEndTurn', 'KeepAlive']);

function handlerOf(
  clock: Clock,
  stream: TranscriptionStream,
  isUndeclared: boolean,
): SocketHandler {
  const allowance = new EventAllowance(clock.monotonicMs());
  /** Without a declared encoding, the first bytes show whether the audio is raw. */
  let isUnchecked = isUndeclared;
  const hear = (bytes: Uint8Array) => {
    const isFirst = isUnchecked && bytes.length > 0;
    if (isFirst) isUnchecked = false;
    if (isFirst && isContainer(bytes)) stream.cutOff(NOT_RAW_AUDIO);
    else stream.audio(bytes);
  };
  const read = (text: string) => {
    const type = parseClientMessage(text, DEEPGRAM_LIMITS.messageChars)?.type;
    if (type === 'CloseStream') stream.finish();
    else if (PASSED_ON.has(type)) stream.message(String(type), text);
    else stream.cutOff(UNPARSABLE);
  };
  return {
    opened: (connection) => stream.attach(connection),
    message(data) {
      if (typeof data !== 'string') hear(data);
      else if (allowance.take(clock.monotonicMs())) read(data);
      else stream.cutOff(TOO_MANY_EVENTS);
    },
    drained: () => stream.drained(),
    draining: () => stream.drain(),
    closed: () => stream.socketClosed(),
  };
}
