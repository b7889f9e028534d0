import { planRaw, SpeakSocketQuery } from '../deepgram/speak-query.ts';
import { SpeakSession } from '../deepgram/speak-session.ts';
import { requireSpeaker } from '../deepgram/speak-texts.ts';
import { socketRoute } from '../http/websocket/socket-route.ts';
import type { Clock } from '../kernel/clock.ts';
import { uuidOf } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Catalogue } from '../models/catalogue/catalogue.ts';
import type { SpeechSynthesis } from '../models/speech/synthesize-speech.ts';
import { limitedMessages } from './limited-messages.ts';
import { readSocketBuyer } from './read-socket-buyer.ts';

type Deps = {
  readonly speech: SpeechSynthesis;
  readonly catalogue: Pick<Catalogue, 'find' | 'findKeyed' | 'suggest'>;
  readonly clock: Clock;
  readonly log: Log;
};

/** Speech of a text while it is written, for Deepgram's clients. Each sentence is a purchase of `POST /v1/audio/speech`. */
export const createSpeakSocket = (deps: Deps) =>
  socketRoute()({
    path: '/v1/speak',
    credential: 'agent',
    summary: 'Speak a text while it is written, for clients of Deepgram.',
    headers: (requestId) => [['dg-request-id', uuidOf(requestId)]],
    authenticateFrom: ['bearer', 'subprotocol'],
    acceptsTokenScheme: true,
    admitsClientSecrets: 'deepgram',
    protocols: ['token', 'bearer'],
    query: SpeakSocketQuery,
    envelope: 'deepgram',
    providerKey: 'optional',
    open(context) {
      const { admit, admitPooled, query, requestId } = context;
      const raw = planRaw(query.encoding, query.sample_rate);
      const speaker = requireSpeaker(deps.catalogue, query);
      const model_uuid = uuidOf(speaker.model);
      const session = new SpeakSession(deps, {
        admit,
        buyer: { ...readSocketBuyer(context, query.customer_id), admitPooled },
        plan: { format: 'pcm', made: { ...raw, inWav: false } },
        speaker,
        metadata: {
          type: 'Metadata',
          request_id: uuidOf(requestId),
          model_name: query.model,
          model_version: 'latest',
          model_uuid,
          additional_model_uuids: [],
        },
      });
      return limitedMessages(session, deps.clock);
    },
  });
