import { expect, it } from 'vitest';
import { PHONE_LIMITS } from '../../../../src/phone/limits.ts';
import { KeyEntry, keypadNote } from '../../../../src/phone/voice/key-entry.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function keys() {
  const clock = new ManualClock();
  const entries: string[] = [];
  const entry = new KeyEntry({
    clock,
    entered: (keys) => entries.push(keypadNote(keys).replace('[keypad] ', '')),
  });
  return { clock, entries, entry };
}

it('a key entry ends after a pause, at once with #, and at its longest length', () => {
  const { clock, entries, entry } = keys();
  for (const digit of '12') entry.press(digit);
  clock.advance(PHONE_LIMITS.keypad.pauseMs);
  for (const digit of '7#') entry.press(digit);
  clock.advance(1);
  for (let n = 0; n < PHONE_LIMITS.keypad.keys; n++) entry.press('5');
  clock.advance(1);
  expect(entries).toEqual(['12', '7#', '5'.repeat(PHONE_LIMITS.keypad.keys)]);
});

it('no key is entered once the call is over', () => {
  const { clock, entries, entry } = keys();
  entry.press('1');
  entry.close();
  clock.advance(PHONE_LIMITS.keypad.pauseMs);
  expect(entries).toEqual([]);
});

const RULES = { maxDigits: 4, finishOnKey: '#', timeoutMs: 10_000, isSensitive: false };

it('a gathered key entry ends with its key, its length or its silence, and then the default rules apply again', () => {
  const { clock, entries, entry } = keys();
  entry.gather(RULES);
  for (const digit of '12') entry.press(digit);
  clock.advance(PHONE_LIMITS.keypad.pauseMs * 2);
  expect(entries).toEqual([]);
  entry.press('#');
  clock.advance(1);
  entry.gather(RULES);
  for (const digit of '3456') entry.press(digit);
  clock.advance(1);
  entry.gather({ ...RULES, finishOnKey: undefined });
  for (const digit of '7#') entry.press(digit);
  clock.advance(9_999);
  expect(entry.isGathering).toBe(true);
  clock.advance(1);
  expect(entry.isGathering).toBe(false);
  entry.press('8');
  entry.press('#');
  clock.advance(1);
  expect(entries).toEqual(['12', '3456', '7#', '8#']);
});

it('a key entry without any key is reported as such, and a sensitive entry as its number of digits', () => {
  const { clock, entries, entry } = keys();
  entry.gather(RULES);
  clock.advance(10_000);
  for (const digits of ['1', '4111']) {
    entry.gather({ ...RULES, isSensitive: true });
    for (const digit of `${digits}#`) entry.press(digit);
    clock.advance(1);
  }
  expect(entries).toEqual(['no digits entered', '1 digit entered', '4 digits entered']);
});

const SENSITIVE = { ...RULES, isSensitive: true };

it('keys after a key entry of full length are dropped until the keypad is idle, longer after a sensitive entry', () => {
  const { pauseMs: digitsMs, restMs: keypadRestMs } = PHONE_LIMITS.keypad;
  for (const [rules, restMs] of [
    [RULES, digitsMs],
    [SENSITIVE, keypadRestMs],
  ] as const) {
    const { clock, entries, entry } = keys();
    let overAt = 0;
    entry.gather(rules, () => {
      overAt = clock.monotonicMs();
    });
    for (const digit of '1234') entry.press(digit);
    clock.advance(1);
    for (const digit of '56#') {
      clock.advance(restMs - 10);
      expect(entry.isDropping).toBe(true);
      expect(entry.writtenAs(digit)).toBe(rules.isSensitive && digit !== '#' ? '0' : digit);
      entry.press(digit);
    }
    const lastMs = clock.monotonicMs();
    clock.advance(restMs - 1);
    expect([entries.length, overAt]).toEqual([1, 0]);
    clock.advance(1);
    expect(overAt).toBe(lastMs + restMs);
    for (const digit of '7#') entry.press(digit);
    clock.advance(1);
    expect(entries.slice(1)).toEqual(['7#']);
  }
});

it('a key entry that ends by its finish key or by silence is over at once', () => {
  for (const last of ['#', '']) {
    const { clock, entries, entry } = keys();
    const order: string[] = [];
    entry.gather(SENSITIVE, () => order.push(`over ${entries.length}`));
    for (const digit of `123${last}`) entry.press(digit);
    clock.advance(last === '' ? SENSITIVE.timeoutMs : 1);
    expect(order).toEqual(['over 0']);
    expect(entry.isDropping).toBe(false);
    entry.press('9');
    clock.advance(PHONE_LIMITS.keypad.pauseMs);
    expect(entries).toEqual(['3 digits entered', '9']);
  }
});

it('a key entry after a sensitive one gets no key of that one, and begins once the keypad was idle', () => {
  for (const isSensitive of [false, true]) {
    const { clock, entries, entry } = keys();
    const over: string[] = [];
    entry.gather(SENSITIVE, () => over.push('first'));
    for (const digit of '1234') entry.press(digit);
    clock.advance(200);
    if (isSensitive) entry.keep(SENSITIVE);
    entry.gather({ ...RULES, isSensitive }, () => over.push('second'));
    expect(entry.isGathering).toBe(true);
    for (const digit of '56#') entry.press(digit);
    clock.advance(PHONE_LIMITS.keypad.pauseMs - 1);
    expect(over).toEqual([]);
    clock.advance(1);
    expect(over).toEqual(['first']);
    for (const digit of '78#') entry.press(digit);
    clock.advance(1);
    expect(entries).toEqual(['4 digits entered', isSensitive ? '2 digits entered' : '78']);
    expect(over).toEqual(['first', 'second']);
  }
});

it('a key entry that waits for an idle keypad is over when the call ends, or when another entry replaces it', () => {
  const { clock, entry } = keys();
  const over: string[] = [];
  entry.gather(SENSITIVE, () => over.push('first'));
  for (const digit of '1234') entry.press(digit);
  clock.advance(1);
  entry.gather(RULES, () => over.push('second'));
  entry.gather(RULES, () => over.push('third'));
  expect(over).toEqual(['second']);
  entry.close();
  entry.close();
  expect(over).toEqual(['second', 'first', 'third']);
});

it('a key entry is over only once the sensitive entry after it has begun, so that nothing is recorded in between', () => {
  const { entry } = keys();
  const over: string[] = [];
  entry.gather(SENSITIVE, () => over.push('first'));
  entry.keep(SENSITIVE);
  expect(over).toEqual([]);
  entry.gather(SENSITIVE, () => over.push('second'));
  expect(over).toEqual(['first']);
});

it('keys to be kept after a sensitive entry that cannot be kept are dropped until the keypad is idle', () => {
  const { clock, entries, entry } = keys();
  entry.gather(SENSITIVE);
  for (const digit of '1234') entry.press(digit);
  clock.advance(1);
  entry.keep(SENSITIVE);
  entry.drop();
  clock.advance(PHONE_LIMITS.keypad.restMs - 1);
  expect([entry.isDropping, entry.isGathering]).toEqual([true, false]);
  clock.advance(1);
  expect(entry.isDropping).toBe(false);
  expect(entries).toEqual(['4 digits entered']);
});
