import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../../src/kernel/log.ts';
import { carryOut } from '../../../../../src/phone/calls/actions/carry-out.ts';
import type { CallDeps } from '../../../../../src/phone/calls/call-deps.ts';
import { CarrierFailed } from '../../../../../src/phone/carriers/carrier.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import type { LlmPiece } from '../../../../../src/voice/session/voice-pipeline.ts';
import { phoneCall } from '../../../../support/phone-line.ts';

const DIGITS = '1234#';
const DIGITS_MS = DIGITS.length * PHONE_LIMITS.keypad.digitMs;
const piece = (name: string, args: object): LlmPiece => ({
  kind: 'call',
  name,
  argumentsJson: JSON.stringify(args),
});

/** A call whose responder answers with these words, digits and the end. `sent`: the carrier has the digits. */
async function goodbyeWithDigits(
  words: string,
  sent: (call: Awaited<ReturnType<typeof phoneCall>>['call']) => void = () => {},
) {
  const said: LlmPiece[] = words === '' ? [] : [{ kind: 'text', text: words }];
  const pieces = [...said, piece('send_digits', { digits: DIGITS }), piece('end_call', {})];
  const asked: string[] = [];
  const world: Awaited<ReturnType<typeof phoneCall>> = await phoneCall({
    responderOf: () => ({
      llm: {
        reply: () => ({
          next: async () => pieces.shift(),
          tokens: { input: 0, cached: 0, output: 0 },
          cut: undefined,
        }),
      },
      close() {},
    }),
    events: {
      act: (action) => carryOut(deps, leg as never, {} as never, action),
    },
  });
  const { call, clock, passes } = world;
  const leg = { callId: 'CA1', carrierCallId: 'LB1' };
  const carrier = {
    calls: {
      async sendDigits(_: unknown, digits: string) {
        asked.push(digits);
        sent(call);
      },
    },
  };
  const live = new Map([[leg.callId, call]]);
  const deps = { carrier, clock, live, log: silentLog, sql: async () => [] } as unknown as CallDeps;
  call.respond();
  await passes(40);
  return { ...world, asked };
}

describe('the end of a call that its agent asks for with digits', () => {
  it('a call whose agent hangs up after sending digits ends when the carrier has sent the digits, also without any speech', async () => {
    const { asked, over, passes } = await goodbyeWithDigits('');
    expect([asked, over]).toEqual([[DIGITS], []]);
    await passes(DIGITS_MS - 100);
    expect(over).toEqual([]);
    await passes(200);
    expect(over).toEqual(['agent_ended']);
  });

  it('a call whose agent hangs up after sending digits ends when the media stream that the carrier closed to send them is back', async () => {
    const { asked, call, connection, over, passes } = await goodbyeWithDigits(
      'Goodbye my friend.',
      (its) => its.detached(),
    );
    expect(asked).toEqual([]);
    await passes(DIGITS_MS + 2_000);
    expect([asked, over]).toEqual([[DIGITS], []]);
    call.attach(connection);
    await passes(300);
    expect(over).toEqual(['agent_ended']);
  });

  it('a call whose agent hangs up after sending digits also ends when its media stream does not come back', async () => {
    const { over, passes } = await goodbyeWithDigits('', (call) => call.detached());
    await passes(DIGITS_MS + PHONE_LIMITS.carrier.timeoutMs + 100);
    expect(over).toEqual(['agent_ended']);
  });

  it('a call whose agent hangs up after sending digits ends at once when the carrier refuses to send the digits', async () => {
    const { over, passes } = await goodbyeWithDigits('', () => {
      throw new CarrierFailed('refused', 'no');
    });
    await passes(100);
    expect(over).toEqual(['agent_ended']);
  });

  it('a call whose agent hangs up after sending digits goes on when the callee speaks while the digits are sent', async () => {
    const { over, passes, says } = await goodbyeWithDigits('');
    await says('wait a moment', 600);
    await passes(DIGITS_MS);
    expect(over).toEqual([]);
  });
});
