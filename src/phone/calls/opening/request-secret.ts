import { keyedHash } from '../../../kernel/keyed-hash.ts';

/**
 * The secret that signs this server's requests to the developer of an agent about its calls, in the form of Standard Webhooks.
 * It is derived, so that no row keeps it; another `version` is another secret.
 */
export const requestSecret = (
  sealingSecret: string,
  { agentId, version }: { readonly agentId: number; readonly version: number },
): string =>
  `whsec_${keyedHash(sealingSecret, `requests about calls of agent ${agentId}, ${version}`)}`;
