import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createActor, setup } from 'xstate';
import { transcriptionStreamMachine } from '../../../../machines/transcription-stream.ts';
import { voiceSessionMachine } from '../../../../machines/voice-session.ts';
import { voiceTurnMachine } from '../../../../machines/voice-turn.ts';
import { FlatActor } from '../../../../src/voice/live/flat-actor.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { SESSION_EVENTS } from '../../../support/session-events.ts';

const ending = { code: 1008, reason: 'budget_exhausted' };
const TURN_EVENTS = [
  { type: 'reply.ready' },
  { type: 'speech.finished' },
  { type: 'turn.interrupted', reason: 'turn_detected' },
  { type: 'output.cut', reason: 'content_filter' },
  { type: 'engine.failed', code: 'engine_failed', message: 'It broke.' },
] as const;

type Event = { readonly type: string };
/** What is sent, or how long nothing is. */
type Step = Event | number;
/** What an effect does, in the order in which effects run. */
type Deed = 'nothing' | 'throws' | Event;
type Play = {
  readonly steps: readonly Step[];
  readonly deeds: readonly Deed[];
  readonly hears: readonly boolean[];
};

type Run = {
  subscribe(observer: { complete: () => void; error: (error: unknown) => void }): unknown;
  start(): unknown;
  send(event: Event): void;
  getSnapshot(): { status: string; value: unknown; context: unknown };
};

/** All that an actor does and says while a play is given to it. */
function seen(
  play: Play,
  effectsOf: (act: (name: string) => (value?: unknown) => void, hears: () => boolean) => object,
  open: (options: { clock: ManualClock; input: object }) => Run,
): unknown[] {
  const log: unknown[] = [];
  const deeds = [...play.deeds];
  const looks = [...play.hears];
  const clock = new ManualClock();
  const act = (name: string) => (value?: unknown) => {
    log.push([name, value, clock.monotonicMs(), snapshot()]);
    const deed = deeds.shift() ?? 'nothing';
    if (deed === 'throws') throw new Error(name);
    if (deed !== 'nothing') actor.send(deed);
  };
  const effects = effectsOf(act, () => looks.shift() ?? false);
  const actor = open({ clock, input: { effects } });
  const snapshot = () => {
    const { context, status, value } = actor.getSnapshot();
    return { status, value, context: { ...(context as object), effects: undefined } };
  };
  actor.subscribe({
    complete: () => log.push('complete'),
    error: (error) => log.push(['error', String(error)]),
  });
  actor.start();
  for (const step of play.steps) {
    if (typeof step === 'number') clock.advance(step);
    else if (actor.getSnapshot().status === 'active') actor.send(step);
    log.push(snapshot());
  }
  return log;
}

const playOf = (events: readonly Event[]): fc.Arbitrary<Play> =>
  fc.record({
    steps: fc.array(
      fc.oneof(fc.constantFrom(...events), fc.constantFrom(1_000, 450_000, 900_000)),
      {
        maxLength: 14,
      },
    ),
    deeds: fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constant('nothing' as const) },
        { weight: 3, arbitrary: fc.constantFrom(...events) },
        { weight: 1, arbitrary: fc.constant('throws' as const) },
      ),
      { maxLength: 8 },
    ),
    hears: fc.array(fc.boolean(), { maxLength: 8 }),
  });

const sessionEffects = (act: (name: string) => (value?: unknown) => void, hears: () => boolean) => {
  let looks = 0;
  return {
    startTurn: act('startTurn'),
    stopTurn: act('stopTurn'),
    journal: act('journal'),
    bill: act('bill'),
    hangUp: act('hangUp'),
    settle: act('settle'),
    isHearing: hears,
    // A client that is quiet at each third look.
    quietInMs: () => (++looks % 3 === 0 ? 0 : 400_000),
  };
};
const turnEffects = (act: (name: string) => (value?: unknown) => void) => ({
  generate: act('generate'),
  speak: act('speak'),
  stop: act('stop'),
  finish: act('finish'),
});

describe('a flat actor', () => {
  it.each([
    {
      name: 'session',
      machine: voiceSessionMachine,
      events: [...SESSION_EVENTS, { type: 'unknown' }],
      effects: sessionEffects,
    },
    { name: 'turn', machine: voiceTurnMachine, events: TURN_EVENTS, effects: turnEffects },
  ])(
    'FlatActor takes the same transitions and effects in a $name as the interpreter of XState',
    ({ effects, events, machine }) => {
      const any = machine as unknown as AnyStateMachine;
      fc.assert(
        fc.property(playOf(events), (play) => {
          const flat = seen(
            play,
            effects,
            (options) => new FlatActor(any, options) as unknown as Run,
          );
          const full = seen(
            play,
            effects,
            (options) => createActor(any, options) as unknown as Run,
          );
          expect(flat).toEqual(full);
        }),
        { numRuns: 500 },
      );
    },
  );

  it('FlatActor refuses a machine with features that it does not implement', () => {
    const input = { effects: {}, quiet: ending, unheld: ending, unfinished: ending } as never;
    const clock = new ManualClock();
    expect(() => new FlatActor(transcriptionStreamMachine, { clock, input })).toThrow(
      'flat machine: initial is not known',
    );
    const unnamed = setup({}).createMachine({
      initial: 'a',
      states: { a: { always: 'b' }, b: {} },
    });
    expect(() => new FlatActor(unnamed, { clock, input })).toThrow(
      'flat machine: always is not known',
    );
  });

  it('FlatActor without an observer throws a broken effect to the sender, and takes no more events', () => {
    const broken = () => {
      throw new Error('broken');
    };
    const effects = { generate() {}, speak: broken, stop() {}, finish: broken };
    const actor = new FlatActor(voiceTurnMachine, { clock: new ManualClock(), input: { effects } });
    actor.start();
    expect(() => actor.send({ type: 'reply.ready' })).toThrow('broken');
    actor.send({ type: 'speech.finished' });
    expect(actor.getSnapshot().status).toBe('error');
  });
});
