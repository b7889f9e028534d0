import { expect, it } from 'vitest';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';
import { KeyEntry, keypadNote } from '../../../../src/phone/voice/key-entry.ts';

function keys() {
  const clock = new ManualClock();
  const entries: string[] = [];
  const entry = new KeyEntry({
    clock,
    entered: (keys) => entries.push(keypadNote(keys).replace('[keypad] ', '')),
  });
  return { clock, entries, entry };
}

it('an entry ends with a pause, with # at once, and at its longest length', () => {
  const { clock, entries, entry } = keys();
  for (const digit of '12') entry.press(digit);
  clock.advance(LIMITS.phone.digitsMs);
  for (const digit of '7#') entry.press(digit);
  clock.advance(1);
  for (let n = 0; n < LIMITS.phone.keys; n++) entry.press('5');
  clock.advance(1);
  expect(entries).toEqual(['12', '7#', '5'.repeat(LIMITS.phone.keys)]);
});

it('nothing is entered once the call is over', () => {
  const { clock, entries, entry } = keys();
  entry.press('1');
  entry.close();
  clock.advance(LIMITS.phone.digitsMs);
  expect(entries).toEqual([]);
});

const RULES = { maxDigits: 4, finishOnKey: '#', timeoutMs: 10_000, isSensitive: false };

it('an entry that was asked for ends with its key, its length or its silence, and then the usual rules hold again', () => {
  const { clock, entries, entry } = keys();
  entry.gather(RULES);
  for (const digit of '12') entry.press(digit);
  clock.advance(LIMITS.phone.digitsMs * 2);
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

it('an entry without any key says so, and a sensitive one says how many digits there are', () => {
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
