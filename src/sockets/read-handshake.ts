import { readSession, type SessionConfig } from '../actors/realtime/session-config.ts';
import type { ClientSecretGrant } from '../http/caller.ts';
import { refuse } from '../kernel/refuse.ts';

/** What a transcription session runs on when its client names no model, as the vendor's do not. */
const TRANSCRIBING_MODEL = 'local/realtime';

export type Handshake = { readonly modelId: string; readonly config: SessionConfig };

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
  const read = readSession(secret?.session ?? asked);
  if ('problem' in read) {
    throw refuse.gateway.invalidRequest(read.problem.message, read.problem.param);
  }
  const named = secret?.model ?? query.model;
  const modelId = named ?? (read.config.type === 'transcription' ? TRANSCRIBING_MODEL : undefined);
  if (modelId === undefined) {
    throw refuse.gateway.invalidRequest('model: name a model of the modality realtime', 'model');
  }
  return { modelId, config: read.config };
}
