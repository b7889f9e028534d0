import type { ClientSecretGrant } from '../../http/route/caller.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import { gatewayErrors } from '../../models/errors.ts';
import type { SessionConfig } from '../../voice/session/session-config.ts';
import { readSession, type SessionType, sessionType } from './read-session-config.ts';

export type Handshake = {
  /** Undefined when a transcription session names its model later, or not at all. */
  readonly modelId: string | undefined;
  readonly type: SessionType;
  /** Returns the first settings of a session on this server. Throws the refusal of settings that only an upstream supports. */
  readonly config: () => SessionConfig;
};

/**
 * Reads a realtime session's model (by its catalogue id, when it has one), type and first settings. A client secret fixes model
 * and type; throws the refusal of an upgrade that contradicts the secret.
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
    throw gatewayErrors.invalidRequest(
      `This client secret is for the model "${secret.model}".`,
      'model',
    );
  }
  const intended = query.intent === 'transcription' ? { type: 'transcription' } : undefined;
  const session = secret?.session ?? intended;
  const type = sessionType(session);
  const modelId = idOf(secret?.model) ?? asked;
  if (modelId === undefined && type !== 'transcription') {
    throw gatewayErrors.invalidRequest('model: name a model of the modality realtime', 'model');
  }
  return { modelId, type, config: () => requireSession(session) };
}

/** Parses the first settings of a session on this server. Throws the refusal of unusable settings. */
export function requireSession(session: unknown): SessionConfig {
  const read = readSession(session);
  if ('config' in read) return read.config;
  throw gatewayErrors.invalidRequest(read.problem.message, read.problem.param);
}
