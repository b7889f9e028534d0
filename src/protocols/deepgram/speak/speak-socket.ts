import type { z } from 'zod';
import type { SoundFormat } from '../../../../media/coding.ts';
import { type SocketContext, socketRoute } from '../../../http/route/socket-route.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { uuidOf } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Random } from '../../../kernel/random.ts';
import type { Catalogue } from '../../../models/catalogue/catalogue.ts';
import type { SpeechSynthesis } from '../../../models/speech/synthesize-speech.ts';
import { limitedMessages } from '../../limited-messages.ts';
import { readSocketBuyer } from '../../read-socket-buyer.ts';
import { AuraDialect } from './aura-dialect.ts';
import { FluxDialect } from './flux-dialect.ts';
import type { SpeakControls, SpeakDialect } from './speak-dialect.ts';
import { FLUX_RATES, FluxSocketQuery, planRaw, SpeakSocketQuery } from './speak-query.ts';
import { SpeakSession } from './speak-session.ts';
import { requireSpeaker } from './speak-texts.ts';

type Deps = {
  readonly speech: SpeechSynthesis;
  readonly catalogue: Pick<Catalogue, 'find' | 'findKeyed' | 'suggest'>;
  readonly clock: Clock;
  readonly log: Log;
};

/** Options that both speech sockets share. */
const SPEAK = {
  credential: 'agent',
  headers: (requestId: string) => [['dg-request-id', uuidOf(requestId)]] as const,
  authenticateFrom: ['bearer', 'subprotocol'],
  acceptsTokenScheme: true,
  admitsClientSecrets: 'deepgram',
  protocols: ['token', 'bearer'],
  envelope: 'deepgram',
  providerKey: 'optional',
} as const;

/** Speaks a text while the client writes it, for Deepgram's clients. Each sentence is a purchase of `POST /v1/audio/speech`. */
export const createSpeakSocket = (deps: Deps) =>
  socketRoute()({
    path: '/v1/speak',
    summary: 'Speak a text while it is written, for clients of Deepgram.',
    ...SPEAK,
    query: SpeakSocketQuery,
    open(context) {
      const { query } = context;
      const format = planRaw(query.encoding, query.sample_rate);
      return openSpeech(deps, context, format, (controls, { model_uuid, ...named }) => {
        const additional_model_uuids: string[] = [];
        const model = { model_uuid, additional_model_uuids };
        return new AuraDialect(controls, { type: 'Metadata', ...named, ...model });
      });
    },
  });

/** Creates the socket for speech in turns, which the client can interrupt. */
export const createSpeakTurnsSocket = (deps: Deps & { readonly random: Random }) =>
  socketRoute()({
    path: '/v2/speak',
    summary: 'Speak the turns of an agent while they are written, for clients of Deepgram.',
    ...SPEAK,
    query: FluxSocketQuery,
    open(context) {
      const { query } = context;
      const format = planRaw(query.encoding, query.sample_rate, FLUX_RATES);
      return openSpeech(deps, context, format, (controls, { model_uuid, ...named }) => {
        const connected = { type: 'Connected', ...named, model_uuids: [model_uuid] };
        const { random } = deps;
        return new FluxDialect(controls, { random, format, speed: query.speed, connected });
      });
    },
  });

type Named = {
  readonly request_id: string;
  readonly model_name: string;
  readonly model_version: string;
  readonly model_uuid: string;
};

/** Opens a session of the model and voice in the query. Throws the refusal of a model that does not exist or does not speak. */
function openSpeech(
  deps: Deps,
  context: SocketContext<unknown, z.ZodType<z.output<typeof SpeakSocketQuery>>>,
  format: SoundFormat,
  dialectOf: (controls: SpeakControls, named: Named) => SpeakDialect,
) {
  const { admit, admitPooled, query, requestId } = context;
  const speaker = requireSpeaker(deps.catalogue, query);
  const session = new SpeakSession(
    deps,
    {
      admit,
      buyer: { admitPooled, ...readSocketBuyer(context, query.customer_id) },
      plan: { format: 'pcm', made: { inWav: false, ...format } },
      speaker,
    },
    (controls) =>
      dialectOf(controls, {
        request_id: uuidOf(requestId),
        model_name: query.model,
        model_version: 'latest',
        model_uuid: uuidOf(speaker.model),
      }),
  );
  return limitedMessages(session, deps.clock);
}
