import { describe, expect, it } from 'vitest';
import { createActor, setup } from 'xstate';
import type { Ending } from '../../../../machines/transcription-stream.ts';
import { SessionActor } from '../../../../src/voice/live/session-actor.ts';
import { BROKEN } from '../../../../src/voice/live/voice-endings.ts';

type Event = { type: 'ended' } | { type: 'failed' };

const machine = setup({
  types: { events: {} as Event },
  actions: {
    fail: () => {
      throw new Error('an effect failed');
    },
  },
}).createMachine({
  initial: 'live',
  states: {
    live: { on: { ended: 'over', failed: { actions: 'fail' } } },
    over: { type: 'final' },
  },
});

/** An actor that has started, and the steps of its ending in their order. */
function started() {
  const steps: unknown[] = [];
  const step = (name: string) => (ending?: Ending) => {
    steps.push(ending === undefined ? name : [name, ending]);
  };
  const actor = new SessionActor(createActor(machine), {
    effects: { hangUp: step('hangUp'), settle: step('settle') },
    life: {
      broke: (error, owed) => {
        steps.push(String(error));
        for (const run of owed) run();
      },
    },
    stop: step('stop'),
  });
  actor.start();
  return { actor, steps };
}

describe('the actor of a live session', () => {
  it('the actor of a live session takes no events once the session has ended', () => {
    const { actor, steps } = started();
    expect(actor.isOver).toBe(false);
    actor.send({ type: 'ended' });
    expect(actor.isOver).toBe(true);
    actor.send({ type: 'failed' });
    expect(actor.snapshot.value).toBe('over');
    expect(steps).toEqual([]);
  });

  it('the actor of a live session stops, hangs up and settles when an effect fails', () => {
    const { actor, steps } = started();
    actor.send({ type: 'failed' });
    expect(actor.isOver).toBe(true);
    actor.send({ type: 'failed' });
    expect(steps).toEqual([
      'Error: an effect failed',
      'stop',
      ['hangUp', BROKEN],
      ['settle', BROKEN],
    ]);
  });
});
