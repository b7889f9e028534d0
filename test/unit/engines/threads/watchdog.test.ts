import { describe, expect, it } from 'vitest';
import { createWatchdog } from '../../../../src/engines/threads/watchdog.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function world() {
  const clock = new ManualClock();
  const state = { waiting: true, barks: 0 };
  const watchdog = createWatchdog({
    clock,
    silenceMs: 100,
    isWaiting: () => state.waiting,
    silent: () => state.barks++,
  });
  return { clock, state, watchdog };
}

describe('watchdog', () => {
  it('the watchdog reports silence, counted from the worker’s last sign of life', () => {
    const { clock, state, watchdog } = world();
    watchdog.watch();
    clock.advance(90);
    watchdog.heard();
    clock.advance(99);
    expect(state.barks).toBe(0);
    clock.advance(1);
    expect(state.barks).toBe(1);
  });

  it('the watchdog ignores silence while no reply is awaited, or after it was stopped', () => {
    const { clock, state, watchdog } = world();
    state.waiting = false;
    watchdog.watch();
    clock.advance(1_000);
    state.waiting = true;
    watchdog.watch();
    watchdog.stop();
    clock.advance(1_000);
    expect(state.barks).toBe(0);
    watchdog.watch();
    clock.advance(100);
    expect(state.barks).toBe(1);
  });
});
