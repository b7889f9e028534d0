import { keyedHash } from '../../../accounts/keys/keyed-hash.ts';

/**
 * Returns the secret that signs this server's requests to an agent's developer about calls, in the form of Standard Webhooks.
 * It is derived and stored in no row; another `version` gives another secret.
 */
export const requestSecret = (
  sealingSecret: string,
  { agentId, version }: { readonly agentId: number; readonly version: number },
): string =>
  `whsec_${keyedHash(sealingSecret, `requests about calls of agent ${agentId}, ${version}`)}`;
