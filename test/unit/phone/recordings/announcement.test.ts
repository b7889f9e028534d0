import { describe, expect, it } from 'vitest';
import { RECORDING_NOTICE } from '../../../../src/phone/recordings/recording.ts';
import { phoneCall } from '../../../support/phone-line.ts';

/** Four words: 400 ms. */
const NOTICE_MS = 400;
const LONG_NOTICE = 'One two three four five six seven eight nine ten eleven twelve thirteen.';
const LONG_NOTICE_MS = 1_300;

/** A call that is recorded. Notes when it may be, and how much the caller had heard by then. */
async function recordedCall(beginMessage?: string, notice = RECORDING_NOTICE) {
  const heardMs: number[] = [];
  const given: string[] = [];
  const phone: Awaited<ReturnType<typeof phoneCall>> = await phoneCall({
    notice,
    ...(beginMessage !== undefined && { beginMessage }),
    announced: () => heardMs.push(phone.callee.heardMs()),
    notAnnounced: () => given.push('up'),
  });
  return { ...phone, heardMs, given };
}

describe('a call that is recorded', () => {
  it('a recorded call begins with the notice, and the recording starts once the notice was heard whole', async () => {
    const { callee, given, heardMs, passes, turns } = await recordedCall('Hello there.');
    await passes(300);
    expect(heardMs).toEqual([]);
    await passes(700);
    expect(heardMs).toHaveLength(1);
    expect(heardMs[0]).toBeGreaterThanOrEqual(NOTICE_MS - 20);
    expect(heardMs[0]).toBeLessThanOrEqual(NOTICE_MS + 20);
    expect(callee.heardMs()).toBe(NOTICE_MS + 200);
    expect(turns).toEqual([`assistant: ${RECORDING_NOTICE}`, 'assistant: Hello there.']);
    expect(given).toEqual([]);
  });

  it('a recorded call is not recorded when the callee hangs up before the end of the notice', async () => {
    const { call, given, heardMs, passes } = await recordedCall('Hello there.');
    await passes(200);
    call.hungUp();
    await passes(2_000);
    expect(heardMs).toEqual([]);
    expect(given).toEqual(['up']);
  });

  it('a recorded call is not recorded when the stream breaks before the end of the notice', async () => {
    const { call, given, heardMs, passes } = await recordedCall('Hello there.');
    await passes(200);
    call.detached();
    await passes(1_000);
    expect(heardMs).toEqual([]);
    expect(given).toEqual(['up']);
  });

  it('a recorded call is not recorded when the carrier never reports that the notice was played', async () => {
    const { call, given, heardMs, line, passes } = await recordedCall();
    const { media } = call;
    call.media = (event) => {
      if (event.kind !== 'mark') media.call(call, event);
    };
    await passes(14_000);
    expect(line).toBeDefined();
    expect(heardMs).toEqual([]);
    expect(given).toEqual(['up']);
  });

  it('a recorded call plays the whole notice although the caller speaks, and the greeting answers the caller', async () => {
    const { callee, clears, engines, heardMs, passes, says, turns } = await recordedCall(
      'Hello there.',
      LONG_NOTICE,
    );
    await passes(100);
    await says('hello who is this', 300);
    expect(heardMs).toEqual([]);
    await passes(2_000);
    expect(clears).toEqual([]);
    expect(heardMs).toHaveLength(1);
    expect(callee.heardMs()).toBe(LONG_NOTICE_MS + 200);
    expect(turns).toEqual([
      `assistant: ${LONG_NOTICE}`,
      'assistant: Hello there.',
      'user: hello who is this',
    ]);
    expect(engines.guide.asked).toEqual([]);
  });

  it('a recorded call without a greeting answers, after the notice, the words that the caller spoke during the notice', async () => {
    const { answers, heardMs, passes, prompt, says, turns } = await recordedCall(
      undefined,
      LONG_NOTICE,
    );
    answers('It is me.');
    await passes(100);
    await says('who is this', 300);
    expect(heardMs).toEqual([]);
    await passes(2_000);
    expect(turns.at(-1)).toBe('assistant: It is me.');
    expect(prompt()).toContain('who is this');
  });

  it('a recorded call is not interrupted by keys during the notice', async () => {
    const { call, clears, heardMs, passes } = await recordedCall('Hello there.');
    await passes(200);
    call.media({ kind: 'digit', digit: '1' });
    await passes(1_000);
    expect(clears).toEqual([]);
    expect(heardMs).toHaveLength(1);
  });

  it('a recorded call plays the whole notice over an entry of keys, and answers the entry after it', async () => {
    const { answers, call, clears, given, heardMs, passes, prompt, turns } = await recordedCall(
      undefined,
      LONG_NOTICE,
    );
    answers('It is me.');
    await passes(300);
    for (const digit of '1#') call.media({ kind: 'digit', digit });
    await passes(3_000);
    expect([clears, given]).toEqual([[], []]);
    expect(heardMs).toHaveLength(1);
    expect(prompt()).toEqual([LONG_NOTICE, '[keypad] 1#']);
    expect(turns.at(-1)).toBe('assistant: It is me.');
  });

  it('a recorded call speaks its greeting although keys were entered before the notice was heard', async () => {
    const { call, callee, clears, given, heardMs, passes } = await recordedCall(
      'Hello there.',
      LONG_NOTICE,
    );
    await passes(1_000);
    for (const digit of '1#') call.media({ kind: 'digit', digit });
    await passes(2_000);
    expect([clears, given]).toEqual([[], []]);
    expect(heardMs).toHaveLength(1);
    expect(callee.heardMs()).toBe(LONG_NOTICE_MS + 200);
  });
});
