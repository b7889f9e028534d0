import { z } from 'zod';
import type { ClientSecrets } from '../../accounts/keys/client-secrets.ts';
import { ACCOUNT_LIMITS } from '../../accounts/limits.ts';
import { bearerToken } from '../../http/auth/presented-credential.ts';
import { ok, route } from '../../http/route/route.ts';
import type { Catalogue, Model } from '../../models/catalogue/catalogue.ts';
import { gatewayErrors } from '../../models/errors.ts';
import { requireSession } from '../../protocols/openai-realtime/read-handshake.ts';
import { renderSession } from '../../protocols/openai-realtime/render-session.ts';
import { TRANSCRIBER } from '../../voice/session/local-pipeline.ts';

type Models = Pick<Catalogue, 'find' | 'findKeyed' | 'suggest'>;

const { min, max, usual } = ACCOUNT_LIMITS.clientSecret.seconds;

const Body = z.object({
  expires_after: z
    .object({
      anchor: z.literal('created_at').optional(),
      seconds: z.number().int().min(min).max(max).optional(),
    })
    .optional(),
  session: z
    .looseObject({
      type: z.enum(['realtime', 'transcription']).optional(),
      model: z.string().min(1).max(128).optional(),
    })
    .optional(),
});

/** Makes a short-lived client secret, with which a browser can open a realtime session of the agent and do nothing else. */
export const createClientSecret = route<{
  clientSecrets: Pick<ClientSecrets, 'issue'>;
  catalogue: Models;
}>()({
  method: 'POST',
  path: '/v1/realtime/client_secrets',
  credential: 'agent',
  summary: 'Make a short-lived key for a realtime session',
  envelope: 'openai',
  rateLimit: 'gateway',
  body: Body,

  handle({ body, headers, services }) {
    const { session } = body;
    const named =
      session?.model === undefined ? undefined : requireModel(services.catalogue, session);
    const model = named?.id;
    // Without a model the configuration must suit every model.
    const config = named && isRelayed(named) ? undefined : requireSession(session);
    const agentKey = bearerToken(headers.get('authorization')) ?? '';
    const seconds = body.expires_after?.seconds ?? usual;
    const { value, expiresAt, sessionId } = services.clientSecrets.issue({
      agentKey,
      use: 'realtime',
      seconds,
      model,
      session,
    });
    const transcriber = named?.modality === 'stt' ? named.id : TRANSCRIBER;
    const identity = { id: sessionId, model, transcriber };
    const shown = config
      ? renderSession(config, identity)
      : asAsked({ ...session, model }, sessionId);
    const answer = { value, expires_at: expiresAt, session: { ...shown, expires_at: 0 } };
    // The notice of a model's retirement is sent here, because a browser cannot read the headers of the WebSocket upgrade.
    return ok(answer, { ...named?.retirement?.headers });
  },
});

/** Returns the session as it was requested. The upstream reports the effective configuration when the session begins. */
const asAsked = (session: Readonly<Record<string, unknown>> | undefined, id: string) => ({
  type: 'realtime',
  ...session,
  object: 'realtime.session',
  id,
});

/** Returns true when the sessions of a model run at an upstream, which judges their configuration itself. */
const isRelayed = ({ cascade, modality, sources }: Model): boolean =>
  modality === 'realtime' &&
  cascade === undefined &&
  !sources.some(({ provider }) => provider === 'local');

/**
 * Returns the model that a session names, even by its bare name. A model that the pool does not sell may be opened by the
 * caller's own key, which the handshake decides.
 */
function requireModel(
  catalogue: Models,
  { model: id = '', type }: NonNullable<z.output<typeof Body>['session']>,
): Model {
  const model = catalogue.find(id) ?? catalogue.findKeyed(id);
  if (model === undefined) throw gatewayErrors.modelNotFound(id, catalogue.suggest(id));
  const { modality } = model;
  if (modality === 'realtime' || modality === 'text') return model;
  if (modality === 'stt' && type === 'transcription') return model;
  throw gatewayErrors.invalidRequest(
    `The model "${id}" is of the modality ${modality}; a realtime session takes realtime or text, and one of the type transcription takes stt.`,
    'session.model',
  );
}
