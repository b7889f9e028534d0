import { z } from 'zod';
import { TranscriptionStream } from '../actors/transcription-stream.ts';
import type { VoiceDeps } from '../actors/voice-deps.ts';
import { openPurse, type PurseOwner, sessionPrice } from '../actors/voice-purse.ts';
import { refuseHold } from '../gateway/refuse-hold.ts';
import { type SocketContext, type SocketHandler, socketRoute } from '../http/socket-route.ts';
import { BRAND, newId } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import { readSocketSpender } from './read-socket-spender.ts';
import { requireEngines, requireLiveModel, takeRecogniser } from './take-engine.ts';

const { min, max } = LIMITS.sampleRateHz;

const Query = z.object({
  model: z.string().min(1).max(128),
  encoding: z.enum(['linear16', 'mulaw', 'alaw']).default('linear16'),
  sample_rate: z.coerce.number().int().min(min).max(max).default(16_000),
  language: z.string().max(16).optional(),
  /** A JSGF grammar, for `local/grammar`. */
  prompt: z.string().max(LIMITS.grammarChars).optional(),
  customer_id: z.string().max(LIMITS.taskIdChars).optional(),
});

type Context = SocketContext<unknown, typeof Query>;

/** Messages that finish the stream, in this interface's spelling and in the vendor's. */
const FINISHERS: ReadonlySet<unknown> = new Set(['close_stream', 'CloseStream']);

/** Live transcription: binary audio up, transcript events down, metered by the second of audio. */
export const createTranscriptionSocket = (deps: VoiceDeps) =>
  socketRoute()({
    path: '/v1/audio/transcriptions/stream',
    credential: 'agent',
    summary: 'Transcribe audio while it is spoken.',
    authenticateFrom: ['bearer', 'subprotocol'],
    protocols: [BRAND.sttProtocol],
    query: Query,
    envelope: 'openai',
    async open(context) {
      const stream = await openStream(deps, context);
      return handlerOf(stream);
    },
  });

async function openStream(deps: VoiceDeps, context: Context): Promise<TranscriptionStream> {
  const { query } = context;
  const { model, source } = requireLiveModel(deps.catalogue, query.model, 'stt');
  const engine = source.upstreamModel === 'grammar' ? 'grammar' : 'pocketsphinx';
  requireEngines(deps.engines, [engine]);
  deps.sessions.requireRoom();

  const recogniser = await takeRecogniser(deps.engines.stt[engine], {
    ...(query.prompt !== undefined && engine === 'grammar' && { grammar: query.prompt }),
    ...(query.language !== undefined && { language: query.language }),
  });
  const owner: PurseOwner = {
    spender: readSocketSpender(context.caller, context.headers, query.customer_id),
    sessionId: newId(deps.random, 'stt_'),
    kind: 'transcription',
    model: model.id,
    source,
  };
  try {
    const slice = { audio_second: LIMITS.transcriptionReserveSeconds };
    const opened = await openPurse(deps, owner, sessionPrice(source, slice));
    if (opened.kind === 'refused') throw refuseHold(opened.refusal);

    const stream = new TranscriptionStream(deps, {
      owner,
      purse: opened.purse,
      encoding: query.encoding,
      sampleRateHz: query.sample_rate,
      ...recogniser,
    });
    return admit(deps, owner.sessionId, stream);
  } catch (error) {
    recogniser.stt.close();
    throw error;
  }
}

function admit(
  deps: VoiceDeps,
  sessionId: string,
  stream: TranscriptionStream,
): TranscriptionStream {
  try {
    deps.sessions.enter(sessionId, {
      drain: () => stream.drain(),
      abandon: () => stream.socketClosed(),
    });
    return stream;
  } catch (refusal) {
    stream.socketClosed();
    throw refusal;
  }
}

const handlerOf = (stream: TranscriptionStream): SocketHandler => ({
  opened: (connection) => stream.attach(connection),
  message(data) {
    if (typeof data !== 'string') stream.audio(data);
    else if (FINISHERS.has(messageType(data))) stream.finish();
  },
  draining: () => stream.drain(),
  closed: () => stream.socketClosed(),
});

/** Text that is no JSON, or of another type, means nothing here: the vendor's keep-alives among it. */
function messageType(text: string): unknown {
  if (text.length > 1_024) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
  } catch {
    return undefined;
  }
}
