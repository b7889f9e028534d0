import { CompactSign, compactVerify } from 'jose';
import { z } from 'zod';
import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';

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
  /** The wallet's generation of sessions at the sign-in; ending all sessions raises it. */
  readonly generation: number;
};

export type Sessions = ReturnType<typeof createSessions>;

/** Session tokens: a JWT that says which wallet signed in, good for seven days, signed so that it cannot be forged. */
export function createSessions(deps: { readonly secret: string; readonly clock: Clock }) {
  const key = new TextEncoder().encode(deps.secret);
  const lifetime = LIMITS.sessionTokenSeconds;

  return {
    issue({ wallet, id, generation }: Session): Promise<string> {
      const iat = nowSeconds(deps.clock);
      const claims = { sub: wallet, iat, exp: iat + lifetime, sid: id, gen: generation };
      return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .sign(key);
    },

    /**
     * Nothing for a token that is malformed, forged, or older than seven days by its `iat`, whatever its `exp`. An `iat`
     * ahead of this process's clock by more than clocks may differ would outlive them.
     */
    async read(token: string): Promise<(Session & { readonly pastHalf: boolean }) | undefined> {
      if (token.length > MAX_TOKEN_CHARS) return undefined;
      const claims = Claims.safeParse(await readPayload(token, key));
      if (!claims.success) return undefined;
      const { sub, iat, exp, sid, gen } = claims.data;
      const now = nowSeconds(deps.clock);
      const end = Math.min(exp, iat + lifetime);
      if (end <= now || iat > now + LIMITS.signatureWindowSeconds) return undefined;
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
