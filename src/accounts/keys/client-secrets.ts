import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import { BRAND, newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import { openSealed, seal } from '../../kernel/seal.ts';
import { credentialErrors } from '../errors.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import { keyedHash } from './keyed-hash.ts';

const PURPOSE = 'realtime client secret';

const Use = z.enum(['realtime', 'deepgram']);

const Sealed = z.object({
  /** Digest of the agent key that issued the secret. */
  digest: z.string(),
  expiresAt: z.number(),
  use: Use.default('realtime'),
  model: z.string().optional(),
  session: z.unknown().optional(),
});

/** Use of a short-lived key: one realtime session, or the routes and sockets of Deepgram's protocol. */
export type ClientSecretUse = z.output<typeof Use>;

export type ClientSecretRequest = {
  readonly agentKey: string;
  readonly use: ClientSecretUse;
  readonly seconds: number;
  readonly model: string | undefined;
  readonly session: unknown;
};

export type OpenedSecret = {
  readonly digest: string;
  readonly use: ClientSecretUse;
  readonly model: string | undefined;
  readonly session: unknown;
};

export type ClientSecrets = ReturnType<typeof createClientSecrets>;

/**
 * Creates and opens client secrets: short-lived keys that stand for an agent's own key in the routes that admit them. A secret
 * carries its grants, sealed under a key that every process derives from the configuration, so that no process stores it and
 * any process can open it. It names the agent's key by digest, so that it spends that key's budget and is revoked with that
 * key.
 */
export function createClientSecrets(deps: {
  readonly hmacSecret: string;
  readonly clock: Clock;
  readonly random: Random;
}) {
  const { hmacSecret, clock, random } = deps;
  const sealingSecret = keyedHash(hmacSecret, PURPOSE);

  return {
    /** Issues a secret. Throws when the session is too large for a header. */
    issue({ agentKey, use, seconds, model, session }: ClientSecretRequest) {
      const expiresAt = nowSeconds(clock) + seconds;
      const digest = keyedHash(hmacSecret, agentKey);
      const content: z.input<typeof Sealed> = { digest, expiresAt, use, model, session };
      const plain = Buffer.from(JSON.stringify(content));
      const sealed = seal(sealingSecret, PURPOSE, deflateRawSync(plain), random);
      const value = BRAND.clientSecretPrefix + Buffer.from(sealed).toString('base64url');
      // A session that compresses well fits the header, but is large again when opened and sent on. So both sizes are
      // bounded.
      const isLarge = plain.length > ACCOUNT_LIMITS.clientSecret.sessionBytes;
      if (isLarge || value.length > ACCOUNT_LIMITS.clientSecret.chars) {
        throw credentialErrors.sessionTooLarge();
      }
      return { value, expiresAt, sessionId: newId(random, 'sess_') };
    },

    /** Opens a client secret. Undefined when this server did not make it. Throws when it has expired. */
    open(value: string): OpenedSecret | undefined {
      if (value.length > ACCOUNT_LIMITS.clientSecret.chars) return undefined;
      const opened = unseal(value.slice(BRAND.clientSecretPrefix.length));
      if (opened === undefined) return undefined;
      const { digest, expiresAt, use, model, session } = Sealed.parse(opened);
      if (nowSeconds(clock) >= expiresAt) throw credentialErrors.clientSecretExpired();
      return { digest, use, model, session };
    },
  };

  function unseal(text: string): unknown {
    let packed: Uint8Array;
    try {
      packed = openSealed(sealingSecret, PURPOSE, Buffer.from(text, 'base64url'));
    } catch {
      return undefined;
    }
    return JSON.parse(inflateRawSync(packed).toString('utf8'));
  }
}
