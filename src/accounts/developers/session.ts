import { CompactSign, compactVerify } from 'jose';
import { z } from 'zod';
import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import { CHAIN_LIMITS } from '../../platform/chain/limits.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';

const ALGORITHM = 'HS256';
const MAX_TOKEN_CHARS = 2_048;

const Claims = z.object({
  sub: z.string().regex(/^0x[0-9a-f]{40}$/),
  iat: z.number().int(),
  exp: z.number().int(),
  /** Tokens that were issued before sessions could be ended have no `sid` and no `gen`. */
  sid: z.string().max(64).default(''),
  gen: z.number().int().default(0),
});

/** Claims of a session token. A renewed token has the same claims. */
export type Session = {
  readonly wallet: string;
  /** Id of the sign-in. Ending the sign-in ends every renewed token of it. */
  readonly id: string;
  /** Session generation of the account at sign-in. A token with an older generation than the account's is invalid. */
  readonly generation: number;
};

export type Sessions = ReturnType<typeof createSessions>;

/** Creates the issuer and reader of session tokens: signed JWTs that name the signed-in wallet and are valid for seven days. */
export function createSessions(deps: { readonly secret: string; readonly clock: Clock }) {
  const key = new TextEncoder().encode(deps.secret);
  const lifetime = ACCOUNT_LIMITS.session.tokenSeconds;

  return {
    issue({ wallet, id, generation }: Session): Promise<string> {
      const iat = nowSeconds(deps.clock);
      const claims = { sub: wallet, iat, exp: iat + lifetime, sid: id, gen: generation };
      return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .sign(key);
    },

    /**
     * Returns the claims of a valid token. Undefined when the token is malformed, forged or expired (seven days after `iat` at
     * the latest), or when its `iat` is more than `CHAIN_LIMITS.signature.windowSeconds` in the future.
     */
    async read(token: string): Promise<(Session & { readonly pastHalf: boolean }) | undefined> {
      if (token.length > MAX_TOKEN_CHARS) return undefined;
      const claims = Claims.safeParse(await readPayload(token, key));
      if (!claims.success) return undefined;
      const { sub, iat, exp, sid, gen } = claims.data;
      const now = nowSeconds(deps.clock);
      const end = Math.min(exp, iat + lifetime);
      if (end <= now || iat > now + CHAIN_LIMITS.signature.windowSeconds) return undefined;
      return { wallet: sub, id: sid, generation: gen, pastHalf: end - now < lifetime / 2 };
    },
  };
}

async function readPayload(token: string, key: Uint8Array): Promise<unknown> {
  try {
    const { payload } = await compactVerify(token, key, { algorithms: [ALGORITHM] });
    return JSON.parse(new TextDecoder().decode(payload));
  } catch {
    // Every failure means the same: the token is not one of ours.
    return undefined;
  }
}
