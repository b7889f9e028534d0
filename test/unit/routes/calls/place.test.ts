import { describe, expect, it } from 'vitest';
import { placeCall } from '../../../../src/routes/calls/place.ts';

const takes = (machineMessage: string) =>
  placeCall.body?.safeParse({ toNumber: '+14155550199', machineMessage }).success;

describe('what is left to an answering machine', () => {
  it('a voicemail message must be text that the database row of a call can hold', () => {
    for (const text of ['Call me back.', 'Ruf mich an 🔑']) expect(takes(text), text).toBe(true);
    for (const text of ['Hi\0', 'Hi \ud83d', '\udd11 hi']) {
      expect(takes(text), JSON.stringify(text)).toBe(false);
    }
  });
});
