import { readSession, type SessionConfig, sessionType } from '../actors/realtime/session-config.ts';
import type { ClientSecretGrant } from '../http/caller.ts';
import { refuse } from '../kernel/refuse.ts';

/** What a transcription session runs on when its client names no model, as the vendor's do not. */
const TRANSCRIBING_MODEL = 'local/realtime';

export type Handshake = {
  readonly modelId: string;
  readonly type: SessionConfig['type'];
  /** How a session of this server's own begins. Throws the refusal of one that it cannot be: an upstream may do more. */
  readonly config: () => SessionConfig;
};

/**
 * The model that a realtime session is opened with, and how it begins. The model
 * and the type that a client secret names stand; the rest of its session is how it begins. Throws the refusal of an upgrade that contradicts it.
 */
export function readHandshake(
  query: { readonly model?: string | undefined; readonly intent?: string | undefined },
  secret: ClientSecretGrant | undefined,
): Handshake {
  if (secret?.model !== undefined && query.model !== undefined && secret.model !== query.model) {
    throw refuse.gateway.invalidRequest(
      `This client secret is for the model "${secret.model}".`,
      'model',
    );
  }
  const asked = query.intent === 'transcription' ? { type: 'transcription' } : undefined;
  const session = secret?.session ?? asked;
  const type = sessionType(session);
  const named = secret?.model ?? query.model;
  const modelId = named ?? (type === 'transcription' ? TRANSCRIBING_MODEL : undefined);
  if (modelId === undefined) {
    throw refuse.gateway.invalidRequest('model: name a model of the modality realtime', 'model');
  }
  return { modelId, type, config: () => requireSession(session) };
}

/** How a session begins that this server serves itself. Throws the refusal of what it cannot be. */
export function requireSession(session: unknown): SessionConfig {
  const read = readSession(session);
  if ('config' in read) return read.config;
  throw refuse.gateway.invalidRequest(read.problem.message, read.problem.param);
}
