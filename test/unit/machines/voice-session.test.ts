import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { MACHINE_LIMITS } from '../../../machines/limits.ts';
import { type VoiceSessionEvent, voiceSessionMachine } from '../../../machines/voice-session.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SESSION_EVENTS } from '../../support/session-events.ts';

function start(...hearing: readonly boolean[]) {
  const looks = [...hearing];
  const effects: string[] = [];
  const note = (name: string) => () => {
    effects.push(name);
  };
  const clock = new ManualClock();
  const quietAtMs = clock.monotonicMs() + 900_000;
  const actor = createActor(voiceSessionMachine, {
    clock,
    input: {
      effects: {
        startTurn: note('startTurn'),
        stopTurn: note('stopTurn'),
        bill: (isEnding) => effects.push(isEnding ? 'bill' : 'bill and hold'),
        journal: note('journal'),
        hangUp: note('hangUp'),
        settle: note('settle'),
        isHearing: () => (looks.length > 1 ? looks.shift() : looks[0]) ?? false,
        quietInMs: () => Math.max(0, quietAtMs - clock.monotonicMs()),
      },
    },
  });
  actor.start();
  const send = (...events: VoiceSessionEvent[]) => {
    for (const event of events) {
      if (actor.getSnapshot().status === 'active') actor.send(event);
    }
  };
  return { effects, actor, send, clock };
}

describe('realtime session', () => {
  it('a realtime session settles exactly once and hangs up, wherever it ends', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(fc.constantFrom(...SESSION_EVENTS), { maxLength: 12 }),
        (isHearing, events) => {
          const { effects, actor, send } = start(isHearing);
          send(...events);
          const { status } = actor.getSnapshot();
          const count = (name: string) => effects.filter((effect) => effect === name).length;
          expect(count('settle')).toBe(status === 'done' ? 1 : 0);
          expect(count('hangUp')).toBe(status === 'done' ? 1 : 0);
        },
      ),
    );
  });

  it('a realtime session never starts a turn before the previous one is billed', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...SESSION_EVENTS), { maxLength: 20 }), (events) => {
        const { effects, send } = start();
        send(...events);
        const turns = effects.filter(
          (effect) => effect === 'startTurn' || effect.startsWith('bill'),
        );
        for (const [index, effect] of turns.entries()) {
          if (effect === 'startTurn')
            expect(turns[index - 1] ?? 'bill and hold').toBe('bill and hold');
        }
      }),
    );
  });

  it('a drained realtime session lets a speaking caller finish, answers, and then ends', () => {
    const { effects, actor, send } = start(true, false);
    send({ type: 'drain.requested' }, { type: 'drain.requested' });
    expect(effects).toEqual([]);
    send({ type: 'response.requested' }, { type: 'turn.finished' }, { type: 'turn.billed' });
    expect(effects).toEqual(['startTurn', 'bill', 'hangUp', 'settle']);
    expect(actor.getSnapshot().context.ending?.code).toBe(1012);
  });

  it('a drained realtime session ends when the caller’s speech gets no answer, or takes too long', () => {
    const silent = start(true, true, false);
    silent.send({ type: 'drain.requested' }, { type: 'speech.heard' });
    // The caller was still speaking.
    expect(silent.effects).toEqual([]);
    silent.send({ type: 'speech.heard' }, { type: 'turn.billed' });
    expect(silent.effects).toEqual(['bill', 'hangUp', 'settle']);
    const endless = start(true);
    endless.send({ type: 'drain.requested' });
    endless.clock.advance(MACHINE_LIMITS.realtime.turnMs);
    expect(endless.effects).toEqual(['hangUp', 'settle']);
  });

  it('a drained realtime session lets a caller who interrupts the answer finish, and answers again', () => {
    const { effects, actor, send } = start(true);
    send({ type: 'drain.requested' }, { type: 'response.requested' });
    send({ type: 'turn.finished' }, { type: 'turn.billed' });
    expect(actor.getSnapshot().value).toBe('hearing');
    send({ type: 'response.requested' }, { type: 'turn.finished' }, { type: 'response.requested' });
    send({ type: 'turn.billed' });
    expect(actor.getSnapshot().value).toBe('responding');
    expect(effects).toEqual([
      'startTurn',
      'bill and hold',
      'startTurn',
      'bill and hold',
      'startTurn',
    ]);
  });

  it('a realtime session whose client leaves during a drain ends with the drain as its reason, and answers no more', () => {
    for (const begin of [[], [{ type: 'response.requested' }]] as const) {
      const { effects, actor, send } = start(true, false);
      send(...begin, { type: 'drain.requested' }, { type: 'response.requested' });
      send({ type: 'socket.closed' }, { type: 'turn.finished' }, { type: 'turn.billed' });
      expect(actor.getSnapshot().value).toBe('closed');
      expect(actor.getSnapshot().context.ending?.code).toBe(1012);
      expect(effects.filter((effect) => effect === 'startTurn')).toHaveLength(1);
      expect(effects).not.toContain('bill and hold');
    }
  });

  it('a realtime session answers a request that came during billing, once the reserve is full again', () => {
    const { effects, actor, send } = start();
    send(
      { type: 'response.requested' },
      { type: 'turn.finished' },
      { type: 'response.requested' },
      { type: 'turn.billed' },
    );
    expect(effects).toEqual(['startTurn', 'bill and hold', 'startTurn']);
    expect(actor.getSnapshot().value).toBe('responding');
  });

  it('a drained realtime session finishes and bills the running turn first', () => {
    const { effects, actor, send } = start();
    send({ type: 'response.requested' }, { type: 'drain.requested' });
    expect(actor.getSnapshot().value).toBe('responding');
    send({ type: 'turn.finished' }, { type: 'turn.billed' });
    expect(effects).toEqual(['startTurn', 'bill', 'hangUp', 'settle']);
    expect(actor.getSnapshot().context.ending?.code).toBe(1012);
  });

  it('a realtime session stops and bills the running turn when the client leaves', () => {
    const { effects, send } = start();
    send({ type: 'response.requested' }, { type: 'socket.closed' });
    send({ type: 'turn.finished' }, { type: 'turn.billed' });
    expect(effects).toEqual(['startTurn', 'stopTurn', 'bill', 'hangUp', 'settle']);
  });

  it('a realtime session that another process has taken over stops, hangs up and settles what is left', () => {
    const { effects, actor, send } = start();
    send({ type: 'response.requested' }, { type: 'claim.lost' });
    expect(effects).toEqual(['startTurn', 'stopTurn', 'hangUp', 'settle']);
    expect(actor.getSnapshot().value).toBe('lost');
  });

  it('a realtime session journals usage during a turn, and bills between turns', () => {
    const { effects, send } = start();
    send({ type: 'response.requested' }, { type: 'bill.due' }, { type: 'turn.finished' });
    send({ type: 'bill.due' }, { type: 'turn.billed' }, { type: 'bill.due' });
    expect(effects).toEqual(['startTurn', 'journal', 'bill and hold', 'bill and hold']);
  });

  it('a realtime session ends a turn that outlives its limit', () => {
    const { effects, send, clock } = start();
    send({ type: 'response.requested' });
    clock.advance(119_999);
    expect(effects).toEqual(['startTurn']);
    clock.advance(1);
    expect(effects).toEqual(['startTurn', 'stopTurn']);
  });

  it('a realtime session closes 1000 after a quarter of an hour without an event', () => {
    const { effects, actor, clock } = start();
    clock.advance(900_000);
    expect(effects).toEqual(['hangUp', 'settle']);
    expect(actor.getSnapshot().context.ending?.code).toBe(1000);
  });
});
