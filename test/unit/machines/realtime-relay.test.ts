import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { MACHINE_LIMITS } from '../../../machines/limits.ts';
import { type RealtimeRelayEvent, realtimeRelayMachine } from '../../../machines/realtime-relay.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const spent = { code: 1008, reason: 'budget_exhausted' };
const EVENTS: readonly RealtimeRelayEvent[] = [
  { type: 'turns.over' },
  { type: 'budget.spent', ending: spent },
  { type: 'drain.requested' },
  { type: 'session.failed', ending: { code: 1013, reason: 'slow' } },
  { type: 'socket.closed' },
  { type: 'upstream.closed', ending: { code: 1011, reason: 'upstream_closed' } },
  { type: 'claim.lost' },
];

function start(isInTurn: boolean) {
  const effects: string[] = [];
  const clock = new ManualClock();
  const quietAtMs = clock.monotonicMs() + 900_000;
  const turn = { isOpen: isInTurn };
  const actor = createActor(realtimeRelayMachine, {
    clock,
    input: {
      effects: {
        hangUp: ({ reason }) => void effects.push(`hangUp ${reason}`),
        cancelTurns: () => void effects.push('cancelTurns'),
        settle: ({ reason }) => void effects.push(`settle ${reason}`),
        leave: () => void effects.push('leave'),
        isInTurn: () => turn.isOpen,
        quietInMs: () => Math.max(0, quietAtMs - clock.monotonicMs()),
      },
    },
  });
  actor.start();
  const send = (...events: RealtimeRelayEvent[]) => {
    for (const event of events) {
      if (event.type === 'turns.over') turn.isOpen = false;
      if (actor.getSnapshot().status === 'active') actor.send(event);
    }
  };
  return { effects, actor, send, clock };
}

describe('a relayed realtime session', () => {
  it('a relayed realtime session is settled exactly once, only in `closed`, and hangs up wherever it ends', () => {
    const events = fc.array(fc.constantFrom(...EVENTS), { maxLength: 10 });
    fc.assert(
      fc.property(fc.boolean(), events, (isInTurn, sent) => {
        const { effects, actor, send } = start(isInTurn);
        send(...sent);
        const { value, status } = actor.getSnapshot();
        const count = (name: string) => effects.filter((one) => one.startsWith(name)).length;
        expect(count('settle')).toBe(value === 'closed' ? 1 : 0);
        expect(count('leave')).toBe(value === 'lost' ? 1 : 0);
        if (status === 'done') expect(count('hangUp')).toBeGreaterThan(0);
      }),
    );
  });

  it('a relayed realtime session always ends, whichever side stays silent', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.subarray([...EVENTS]), (isInTurn, sent) => {
        const { actor, clock, send } = start(isInTurn);
        send(...sent);
        clock.advance(MACHINE_LIMITS.realtime.turnMs + MACHINE_LIMITS.relay.finishMs + 900_000);
        expect(actor.getSnapshot().status).toBe('done');
      }),
    );
  });

  it('a relayed realtime session that ends in mid-turn hangs up at once and waits for the turn before it settles', () => {
    const { effects, actor, send } = start(true);
    send({ type: 'budget.spent', ending: spent });
    expect(actor.getSnapshot().value).toBe('finishing');
    expect(effects).toEqual(['hangUp budget_exhausted', 'cancelTurns']);
    send({ type: 'turns.over' });
    expect(effects.at(-1)).toBe('settle budget_exhausted');
  });

  it('a drained relayed session keeps its client for the turn in progress, up to the turn limit', () => {
    const { effects, clock, send } = start(true);
    send({ type: 'drain.requested' });
    expect(effects).toEqual([]);
    clock.advance(MACHINE_LIMITS.realtime.turnMs);
    expect(effects[0]).toBe('hangUp server is shutting down');
    const idle = start(false);
    idle.send({ type: 'drain.requested' });
    expect(idle.effects.at(-1)).toBe('settle server is shutting down');
  });
});
