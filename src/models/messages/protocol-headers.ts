import { gatewayErrors } from '../errors.ts';
import { MODEL_LIMITS } from '../limits.ts';

const VERSION = 'anthropic-version';
const BETA = 'anthropic-beta';

/**
 * Versions of the protocol that this server reads. They differ in the members of requests, which the vendor checks: the newer
 * version has no `temperature`, `top_p` and `top_k` (https://platform.claude.com/docs/en/api/versioning).
 */
const VERSIONS: readonly string[] = ['2023-06-01', '2026-10-21'];

/** List of feature names in `anthropic-beta`, as the vendor writes it. */
const FEATURES = /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/;

/**
 * Reads the headers with the protocol's version and features, to forward them. A request without a version uses the oldest
 * version. Throws the refusal of another version or an invalid list of features.
 */
export function readProtocol(headers: ReadonlyMap<string, string>): Record<string, string> {
  const version = headers.get(VERSION);
  if (version !== undefined && !VERSIONS.includes(version)) {
    throw gatewayErrors.invalidRequest(
      `${VERSION} must be ${VERSIONS.join(' or ')}: no other version is spoken here.`,
      VERSION,
    );
  }
  const beta = headers.get(BETA)?.trim() ?? '';
  const spoken: Record<string, string> = version === undefined ? {} : { [VERSION]: version };
  if (beta === '') return spoken;
  if (beta.length > MODEL_LIMITS.chat.betaHeaderChars || !FEATURES.test(beta)) {
    throw gatewayErrors.invalidRequest(
      `${BETA} must be a list of names with commas between them, of ${MODEL_LIMITS.chat.betaHeaderChars} characters at most.`,
      BETA,
    );
  }
  return { ...spoken, [BETA]: beta };
}
