import { describe, expect, it } from 'vitest';
import { createVoiceSessions } from '../../../../src/voice/live/voice-sessions.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const quiet = { drain() {}, abandon() {} };

describe('the live sessions of a process', () => {
  it('live sessions have a limit per process, and a full process does not claim that it shuts down', () => {
    const sessions = createVoiceSessions({ clock: new ManualClock(), limit: 2 });
    sessions.enter('a', quiet);
    sessions.requireRoom();
    sessions.enter('b', quiet);
    const full = expect.objectContaining({ status: 503, error: 'server_overloaded' });
    expect(() => sessions.requireRoom()).toThrow(full);
    expect(() => sessions.enter('c', quiet)).toThrow(full);
    expect(sessions.size).toBe(2);
    sessions.leave('a');
    sessions.requireRoom();
  });

  it('a process that shuts down accepts no new live session', async () => {
    const sessions = createVoiceSessions({ clock: new ManualClock() });
    await sessions.drain(0);
    const draining = expect.objectContaining({ status: 503, error: 'server_draining' });
    expect(() => sessions.requireRoom()).toThrow(draining);
    expect(() => sessions.enter('a', quiet)).toThrow(draining);
  });
});
