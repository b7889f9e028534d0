import { describe, expect, it } from 'vitest';
import { createClientSecrets } from '../../../../src/accounts/keys/client-secrets.ts';
import { ACCOUNT_LIMITS } from '../../../../src/accounts/limits.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const HMAC = 'hmac secret of the tests';
const wanted = {
  use: 'realtime' as const,
  agentKey: 'svc_a',
  seconds: 60,
  model: 'local/realtime',
  session: { voice: 'slt' },
};

function processes() {
  const clock = new ManualClock();
  const one = (hmacSecret = HMAC) =>
    createClientSecrets({ hmacSecret, clock, random: systemRandom });
  return { clock, one };
}

describe('a client secret', () => {
  it('a client secret opens in every process of one configuration, says what it grants, and hides its content from others', () => {
    const { one } = processes();
    const { value } = one().issue(wanted);
    expect(value).toMatch(/^ek_[\w-]+$/);
    expect(one().open(value)).toEqual({
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      use: 'realtime',
      model: 'local/realtime',
      session: { voice: 'slt' },
    });
    expect(one('another').open(value)).toBeUndefined();
    expect(Buffer.from(value.slice(3), 'base64url').toString('latin1')).not.toContain('slt');
  });

  it('a client secret expires at its time, to the second', () => {
    const { clock, one } = processes();
    const { value, expiresAt } = one().issue(wanted);
    expect(expiresAt).toBe(Math.floor(clock.now() / 1_000) + 60);
    clock.advance(59_000);
    expect(one().open(value)).toBeDefined();
    clock.advance(1_000);
    expect(() => one().open(value)).toThrow('client_secret_expired');
  });

  it.each([
    ['cut', (value: string) => value.slice(0, -2)],
    [
      'bent',
      (value: string) => `${value.slice(0, 10)}${value[10] === 'A' ? 'B' : 'A'}${value.slice(11)}`,
    ],
    ['empty', () => 'ek_'],
    ['endless', (value: string) => value + 'A'.repeat(10_000)],
  ])('a client secret is invalid when it is %s', (_, change) => {
    const { one } = processes();
    expect(one().open(change(one().issue(wanted).value))).toBeUndefined();
  });

  it('a client secret is refused for a session that is too large for a header', () => {
    const { one } = processes();
    const noise = Buffer.from(systemRandom.bytes(8_000)).toString('base64');
    expect(() => one().issue({ ...wanted, session: { instructions: noise } })).toThrow(
      'invalid_request',
    );
  });

  it('a client secret is refused for a session beyond the size limit, even if the session compresses well', () => {
    const { one } = processes();
    const issue = (chars: number) =>
      one().issue({ ...wanted, session: { instructions: 'x'.repeat(chars) } });
    expect(() => issue(ACCOUNT_LIMITS.clientSecret.sessionBytes)).toThrow('invalid_request');
    expect(issue(ACCOUNT_LIMITS.clientSecret.sessionBytes / 2).value).toBeDefined();
  });
});
