import type { ClientSecretGrant } from '../http/route/caller.ts';
import { errors } from '../kernel/errors.ts';
import type { Catalogue } from '../models/catalogue/catalogue.ts';
import {
  readSession,
  type SessionConfig,
  sessionType,
} from '../voice/protocols/openai-realtime/session-config.ts';

export type Handshake = {
  /** Undefined: a transcription session names its model later, or not at all. */
  readonly modelId: string | undefined;
  readonly type: SessionConfig['type'];
  /** How a session of this server's own begins. Throws the refusal of one that it cannot be: an upstream may do more. */
  readonly config: () => SessionConfig;
};

/**
 * The model that a realtime session is opened with, by its catalogue id where the catalogue has it, and how it begins. The
 * model and the type that a client secret names stand; the rest of its session is how it begins. Throws the refusal of an
 * upgrade that contradicts it.
 */
export function readHandshake(
  catalogue: Pick<Catalogue, 'find' | 'findKeyed'>,
  query: { readonly model?: string | undefined; readonly intent?: string | undefined },
  secret: ClientSecretGrant | undefined,
): Handshake {
  const idOf = (name: string | undefined) =>
    name && ((catalogue.find(name) ?? catalogue.findKeyed(name))?.id ?? name);
  const asked = idOf(query.model);
  if (secret?.model !== undefined && asked !== undefined && idOf(secret.model) !== asked) {
    throw errors.gateway.invalidRequest(
      `This client secret is for the model "${secret.model}".`,
      'model',
    );
  }
  const intended = query.intent === 'transcription' ? { type: 'transcription' } : undefined;
  const session = secret?.session ?? intended;
  const type = sessionType(session);
  const modelId = idOf(secret?.model) ?? asked;
  if (modelId === undefined && type !== 'transcription') {
    throw errors.gateway.invalidRequest('model: name a model of the modality realtime', 'model');
  }
  return { modelId, type, config: () => requireSession(session) };
}

/** How a session begins that this server serves itself. Throws the refusal of what it cannot be. */
export function requireSession(session: unknown): SessionConfig {
  const read = readSession(session);
  if ('config' in read) return read.config;
  throw errors.gateway.invalidRequest(read.problem.message, read.problem.param);
}
