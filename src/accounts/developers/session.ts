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
});

export type Sessions = ReturnType<typeof createSessions>;

/** Session tokens: a JWT that says which wallet signed in, good for seven days, signed so that it cannot be forged. */
export function createSessions(deps: { readonly secret: string; readonly clock: Clock }) {
  const key = new TextEncoder().encode(deps.secret);
  const lifetime = LIMITS.sessionTokenSeconds;

  return {
    issue(wallet: string): Promise<string> {
      const iat = nowSeconds(deps.clock);
      const claims = { sub: wallet, iat, exp: iat + lifetime };
      return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .sign(key);
    },

    /** Nothing for a token that is malformed, forged or expired. */
    async read(token: string): Promise<{ wallet: string; pastHalf: boolean } | undefined> {
      if (token.length > MAX_TOKEN_CHARS) return undefined;
      const claims = Claims.safeParse(await readPayload(token, key));
      const now = nowSeconds(deps.clock);
      if (!claims.success || claims.data.exp <= now) return undefined;
      return { wallet: claims.data.sub, pastHalf: claims.data.exp - now < lifetime / 2 };
    },
  };
}

async function readPayload(token: string, key: Uint8Array): Promise<unknown> {
  try {
    const { payload } = await compactVerify(token, key, { algorithms: [ALGORITHM] });
    return JSON.parse(new TextDecoder().decode(payload));
  } catch {
    // Whatever is wrong with it, it is not a token of ours.
    return undefined;
  }
}
