import { jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createSessions } from '../../../../src/accounts/developers/session.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const SECRET = 'a secret of at least thirty-two bytes';
const WALLET = `0x${'ab'.repeat(20)}`;
const SESSION = { wallet: WALLET, id: 'sess_1', generation: 3 };
const DAY_MS = 24 * 3_600_000;
const bytes = (text: string) => new TextEncoder().encode(text);

function setUp() {
  const clock = new ManualClock();
  return { clock, sessions: createSessions({ secret: SECRET, clock }) };
}

describe('sessions', () => {
  it('session tokens are standard JWTs of seven days that another library reads', async () => {
    const { clock, sessions } = setUp();
    const { payload, protectedHeader } = await jwtVerify(
      await sessions.issue(SESSION),
      bytes(SECRET),
      { currentDate: new Date(clock.now()), algorithms: ['HS256'] },
    );
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(payload.sub).toBe(WALLET);
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(604_800);
  });

  it('session tokens expire after seven days to the second, and are due for renewal after half of that', async () => {
    const { clock, sessions } = setUp();
    const token = await sessions.issue(SESSION);
    expect(await sessions.read(token)).toEqual({ ...SESSION, pastHalf: false });
    clock.advance(3.5 * DAY_MS);
    expect(await sessions.read(token)).toEqual({ ...SESSION, pastHalf: false });
    clock.advance(1_000);
    expect(await sessions.read(token)).toEqual({ ...SESSION, pastHalf: true });
    clock.advance(3.5 * DAY_MS - 2_000);
    expect(await sessions.read(token)).toBeDefined();
    clock.advance(1_000);
    expect(await sessions.read(token)).toBeUndefined();
  });

  it('a session token ages from `iat` whatever `exp` says, and may start at most 300 s in the future', async () => {
    const { clock, sessions } = setUp();
    const now = Math.floor(clock.now() / 1_000);
    const signed = (iat: number, exp: number) =>
      new SignJWT({ sub: WALLET, iat, exp })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(bytes(SECRET));
    const year = 365 * 86_400;
    expect(await sessions.read(await signed(now - 604_800, now + year))).toBeUndefined();
    expect(await sessions.read(await signed(now - 604_799, now + year))).toEqual({
      wallet: WALLET,
      id: '',
      generation: 0,
      pastHalf: true,
    });
    expect(await sessions.read(await signed(now, now + year))).toMatchObject({ pastHalf: false });
    expect(await sessions.read(await signed(now - 60, now))).toBeUndefined();
    expect(await sessions.read(await signed(now + 300, now + year))).toBeDefined();
    expect(await sessions.read(await signed(now + 301, now + year))).toBeUndefined();
  });

  it('a session token is refused when forged, unsigned, of another algorithm or secret, or malformed', async () => {
    const { clock, sessions } = setUp();
    const now = Math.floor(clock.now() / 1_000);
    const claims = { sub: WALLET, iat: now, exp: now + 600 };
    const signed = (alg: string, secret: string) =>
      new SignJWT(claims).setProtectedHeader({ alg }).sign(bytes(secret.padEnd(64, '.')));
    const good = await sessions.issue(SESSION);
    const [head, , tail] = good.split('.');
    const forged = `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: `0x${'cd'.repeat(20)}` })).toString('base64url')}.${tail}`;
    for (const token of [
      forged,
      await signed('HS512', SECRET),
      await signed('HS256', 'another secret'),
      new UnsecuredJWT(claims).encode(),
      '',
      'a.b.c',
      '..',
      'x'.repeat(100_000),
    ]) {
      expect(await sessions.read(token), token.slice(0, 80)).toBeUndefined();
    }
    expect(await sessions.read(good)).toBeDefined();
  });
});
