import { z } from 'zod';
import { ENGINE_LIMITS } from '../../engines/limits.ts';
import { type SocketHandler, socketRoute } from '../../http/route/socket-route.ts';
import { BRAND } from '../../kernel/ids.ts';
import { SPEND_LIMITS } from '../../spend/limits.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import type { TranscriptionStream } from '../../voice/transcription/transcription-stream.ts';
import { parseClientMessage } from '../client-message.ts';
import { type ListenRelays, openTranscription } from '../open-transcription.ts';
import { readSocketBuyer } from '../read-socket-buyer.ts';
import { tracedFrom } from '../traced-from.ts';
import { PLAIN_DIALECT } from './plain-dialect.ts';

const { min, max } = VOICE_LIMITS.sampleRateHz;

const Query = z.object({
  model: z.string().min(1).max(128),
  encoding: z.enum(['linear16', 'mulaw', 'alaw']).default('linear16'),
  sample_rate: z.coerce.number().int().min(min).max(max).default(16_000),
  language: z.string().max(16).optional(),
  /** JSGF grammar for the model `local/grammar`. */
  prompt: z.string().max(ENGINE_LIMITS.grammar.chars).optional(),
  customer_id: z.string().max(SPEND_LIMITS.tag.idChars).optional(),
});

/** Message types that finish the stream, in this route's spelling and in Deepgram's. */
const FINISHERS: ReadonlySet<unknown> = new Set(['close_stream', 'CloseStream']);

/** Query parameters by which an upstream sends interim words and ends utterances as this route does. */
const ASKED = Object.entries({
  interim_results: 'true',
  punctuate: 'true',
  endpointing: String(PLAIN_DIALECT.silenceDurationMs),
});

/**
 * Serves live transcription: binary audio in, transcript events out, metered by the second of audio. Uses the recognisers of
 * this server or an upstream. Without `relays`, no upstream is used.
 */
export const createTranscriptionSocket = (deps: VoiceDeps, relays?: ListenRelays) =>
  socketRoute()({
    path: '/v1/audio/transcriptions/stream',
    credential: 'agent',
    summary: 'Transcribe audio while it is spoken.',
    authenticateFrom: ['bearer', 'subprotocol'],
    protocols: [BRAND.sttProtocol],
    query: Query,
    envelope: 'openai',
    async open(context) {
      const { customer_id, encoding, language, model, prompt } = context.query;
      const { sample_rate: sampleRateHz } = context.query;
      const buyer = readSocketBuyer(context, customer_id);
      const stream = await openTranscription(
        { ...tracedFrom(deps, context), relays },
        {
          buyer,
          encoding,
          language,
          model,
          prompt,
          sampleRateHz,
          asked: ASKED,
          answerWith: context.answerWith,
          dialect: () => ({ kind: 'plain' }),
        },
      );
      return handlerOf(stream);
    },
  });

/** Ignores text that is no JSON or of another type, such as the vendor's keep-alives. */
const handlerOf = (stream: TranscriptionStream): SocketHandler => ({
  opened: (connection) => stream.attach(connection),
  message(data) {
    if (typeof data !== 'string') stream.audio(data);
    else if (FINISHERS.has(parseClientMessage(data)?.type)) stream.finish();
  },
  drained: () => stream.drained(),
  draining: () => stream.drain(),
  closed: () => stream.socketClosed(),
});
