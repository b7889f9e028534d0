import { describe, expect, it } from 'vitest';
import { CallPlace } from '../../../../../src/phone/calls/opening/call-place.ts';
import { createVoiceSessions } from '../../../../../src/voice/live/voice-sessions.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { settleAll } from '../../../../support/voice-world.ts';

function openingCall() {
  const clock = new ManualClock(0);
  const sessions = createVoiceSessions({ clock });
  const stops: string[] = [];
  const call = { drain: () => stops.push('drain'), abandon: () => stops.push('abandon') };
  const place = new CallPlace();
  sessions.enter('call', place);
  let isDrained = false;
  const drain = () =>
    void sessions.drain(10_000).then(() => {
      isDrained = true;
    });
  return { call, clock, drain, isDrained: () => isDrained, place, sessions, stops };
}

describe('a call that is being opened while its process stops', () => {
  it('a process that stops waits for a call that is being opened, and drains the call once it is open', async () => {
    const { call, drain, isDrained, place, sessions, stops } = openingCall();
    drain();
    await settleAll();
    expect([stops, isDrained()]).toEqual([[], false]);
    place.opened(call);
    expect(stops).toEqual(['drain']);
    sessions.leave('call');
    await settleAll();
    expect(isDrained()).toBe(true);
  });

  it('a call that opens after the drain deadline of its process is ended at once', async () => {
    const { call, clock, drain, place, stops } = openingCall();
    drain();
    await settleAll();
    clock.advance(10_000);
    await settleAll();
    place.opened(call);
    expect(stops).toEqual(['abandon']);
  });

  it('an open call of a process that stops is drained, then abandoned at the deadline', async () => {
    const { call, clock, drain, place, stops } = openingCall();
    place.opened(call);
    drain();
    await settleAll();
    clock.advance(10_000);
    await settleAll();
    expect(stops).toEqual(['drain', 'abandon']);
  });
});
