import type { z } from 'zod';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';

/** Returns the settings of the on- and off-ramp; undefined without a key. Throws ConfigError for half a key. */
export function assembleRamp(env: z.output<typeof Environment>) {
  const { ONRAMP_KEY_ID: keyId, ONRAMP_KEY_SECRET: keySecret } = env;
  if (keyId === undefined && keySecret === undefined) return undefined;
  if (keyId === undefined || keySecret === undefined) {
    const [missing, set] = ['ONRAMP_KEY_ID', 'ONRAMP_KEY_SECRET'];
    throw new ConfigError(
      keyId === undefined
        ? `${missing} is required beside ${set}`
        : `${set} is required beside ${missing}`,
    );
  }
  return {
    keyId,
    keySecret,
    baseUrl: env.ONRAMP_BASE_URL,
    pageUrl: env.ONRAMP_PAGE_URL,
    redirectUrl: env.ONRAMP_REDIRECT_URL ?? env.PUBLIC_URL,
  } as const;
}
