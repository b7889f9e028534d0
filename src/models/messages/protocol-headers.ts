import { errors } from '../../kernel/errors.ts';
import { LIMITS } from '../../kernel/limits.ts';

const VERSION = 'anthropic-version';
const BETA = 'anthropic-beta';

/** The one version whose streams are read here (https://platform.claude.com/docs/en/api/versioning). */
export const PROTOCOL_VERSION = '2023-06-01';

/** Names of features, as the vendor writes them. */
const FEATURES = /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/;

/**
 * What a request says of the protocol: the headers that go on to an upstream which speaks it. A request that names no version
 * speaks the current one. Throws the refusal of another version, or of a list that is none.
 */
export function readProtocol(headers: ReadonlyMap<string, string>): Record<string, string> {
  const version = headers.get(VERSION);
  if (version !== undefined && version !== PROTOCOL_VERSION) {
    throw errors.gateway.invalidRequest(
      `${VERSION} must be ${PROTOCOL_VERSION}: no other version is spoken here.`,
      VERSION,
    );
  }
  const beta = headers.get(BETA)?.trim() ?? '';
  if (beta === '') return {};
  if (beta.length > LIMITS.betaHeaderChars || !FEATURES.test(beta)) {
    throw errors.gateway.invalidRequest(
      `${BETA} must be a list of names with commas between them, of ${LIMITS.betaHeaderChars} characters at most.`,
      BETA,
    );
  }
  return { [BETA]: beta };
}
