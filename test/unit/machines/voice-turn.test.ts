import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { type VoiceTurnEvent, voiceTurnMachine } from '../../../machines/voice-turn.ts';

const EVENTS: readonly VoiceTurnEvent[] = [
  { type: 'reply.ready' },
  { type: 'speech.finished' },
  { type: 'turn.interrupted', reason: 'turn_detected' },
  { type: 'turn.interrupted', reason: 'client_cancelled' },
  { type: 'output.cut', reason: 'max_output_tokens' },
  { type: 'output.cut', reason: 'content_filter' },
  { type: 'engine.failed', code: 'engine_failed', message: 'broken' },
];

function run(events: readonly VoiceTurnEvent[]) {
  const effects: string[] = [];
  const note = (name: string) => () => {
    effects.push(name);
  };
  const actor = createActor(voiceTurnMachine, {
    input: {
      effects: {
        generate: note('generate'),
        speak: note('speak'),
        stop: note('stop'),
        finish: note('finish'),
      },
    },
  });
  actor.start();
  for (const event of events) {
    if (actor.getSnapshot().status === 'active') actor.send(event);
  }
  return { effects, snapshot: actor.getSnapshot() };
}

describe('voice turn', () => {
  it('a voice turn is finished exactly once, as its last effect, and only when it is over', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 8 }), (events) => {
        const { effects, snapshot } = run(events);
        const finished = effects.filter((effect) => effect === 'finish').length;
        expect(finished).toBe(snapshot.status === 'done' ? 1 : 0);
        expect(effects.lastIndexOf('finish') === effects.length - 1).toBe(finished === 1);
      }),
    );
  });

  it('a voice turn generates, speaks and completes without a cause', () => {
    const { effects, snapshot } = run([{ type: 'reply.ready' }, { type: 'speech.finished' }]);
    expect(effects).toEqual(['generate', 'speak', 'finish']);
    expect([snapshot.value, snapshot.context.cause]).toEqual(['completed', undefined]);
  });

  it('a voice turn stops the engines before it is finished when the caller barges in', () => {
    const { effects, snapshot } = run([
      { type: 'reply.ready' },
      { type: 'turn.interrupted', reason: 'turn_detected' },
    ]);
    expect(effects).toEqual(['generate', 'speak', 'stop', 'finish']);
    expect(snapshot.context.cause).toEqual({ kind: 'cancelled', reason: 'turn_detected' });
  });

  it.each(['max_output_tokens', 'content_filter'] as const)(
    'a voice turn that %s cuts short is incomplete for that reason',
    (reason) => {
      const { snapshot } = run([{ type: 'reply.ready' }, { type: 'output.cut', reason }]);
      expect(snapshot.context.cause).toEqual({ kind: 'incomplete', reason });
    },
  );
});
