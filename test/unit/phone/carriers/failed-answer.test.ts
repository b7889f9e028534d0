import { stdSerializers } from 'pino';
import { describe, expect, it } from 'vitest';
import { failedAnswer } from '../../../../src/phone/carriers/failed-answer.ts';

const failed = (words: unknown) => failedAnswer('twilio', { status: 400, code: 21_211, words });

describe('the failure that an answer of a carrier reports', () => {
  it.each([
    ["The 'To' number +14155550199 is not valid.", "The 'To' number # is not valid."],
    ['(415) 555-0199 is not for sale', '(# is not for sale'],
    ['to=%2B14155550199, from 415.555.0100', 'to=%2B#, from #'],
    ['dial 4155550199', 'dial #'],
    ['Try again in 30 seconds', 'Try again in 30 seconds'],
  ])('the error of a failed carrier response hides the phone number of %s', (words, kept) => {
    const error = failed(words);
    expect(error).toMatchObject({ kind: 'refused', code: '21211', cause: { status: 400 } });
    expect(error.message).toBe(`twilio answered 400: ${kept}`);
  });

  it.each(['taken', 'invalid'] as const)(
    'the error of a failed carrier response says that the number is %s',
    (number) => {
      expect(failedAnswer('twilio', { status: 400, words: '', number })).toMatchObject({
        kind: number,
      });
    },
  );

  it('the logged error of a failed carrier response has no phone number, whatever its cause', () => {
    const line = JSON.stringify(stdSerializers.err(failed('+14155550199 is a mobile number')));
    expect(line).toContain('"code":"21211"');
    expect(line).not.toContain('4155550199');
  });

  it('the error of a failed carrier response cuts long texts, and is short when the carrier said nothing', () => {
    expect(failed(`${'a'.repeat(199)}🔑`).message).toBe(`twilio answered 400: ${'a'.repeat(199)}`);
    expect(failed(undefined).message).toBe('twilio answered 400: ');
  });
});
