import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { type BalanceEvent, balanceMachine } from '../../../machines/balance.ts';

function started() {
  const done: string[] = [];
  const effects = {
    load: () => done.push('load'),
    offer: () => done.push('offer'),
    fence: () => done.push('fence'),
    dismiss: () => done.push('dismiss'),
  };
  const actor = createActor(balanceMachine, {
    input: {
      missesBeforeFence: 2,
      waryParts: 2,
      effects: effects as unknown as { [K in keyof typeof effects]: () => void },
    },
  });
  actor.start();
  return { actor, done };
}

const missed = { type: 'part.declined', stale: true, rulesMoved: false } as const;

const EVENTS: readonly BalanceEvent[] = [
  { type: 'part.applied', busy: true },
  { type: 'work.waiting' },
  { type: 'balance.loaded' },
  { type: 'agent.missing' },
  { type: 'part.applied', busy: false },
  missed,
  { type: 'part.declined', stale: false, rulesMoved: false },
  { type: 'part.declined', stale: true, rulesMoved: true },
  { type: 'part.broken' },
  { type: 'rules.changed' },
];

describe('balanceMachine', () => {
  it('the balance machine locks the row after two misses in a row, and forgives the misses afterwards', () => {
    const { actor, done } = started();
    actor.send({ type: 'balance.loaded' });
    actor.send(missed);
    expect(actor.getSnapshot().value).toBe('ready');
    actor.send(missed);
    expect(actor.getSnapshot().value).toBe('fenced');
    actor.send({ type: 'part.applied', busy: false });
    expect(actor.getSnapshot()).toMatchObject({ value: 'ready', context: { misses: 0 } });
    expect(done).toEqual(['load', 'offer', 'offer', 'fence', 'offer']);
  });

  it('the balance machine keeps a busy agent’s row locked for a few parts, then goes on without the lock', () => {
    const { actor } = started();
    actor.send({ type: 'balance.loaded' });
    actor.send(missed);
    actor.send(missed);
    const seen = [];
    for (let i = 0; i < 3; i++) {
      actor.send({ type: 'part.applied', busy: true });
      seen.push(actor.getSnapshot().value);
      actor.send({ type: 'work.waiting' });
    }
    expect(seen).toEqual(['wary', 'wary', 'ready']);
  });

  it('the balance machine forgets a miss once a part was applied', () => {
    const { actor } = started();
    actor.send({ type: 'balance.loaded' });
    actor.send(missed);
    actor.send({ type: 'part.applied', busy: false });
    actor.send(missed);
    expect(actor.getSnapshot().value).toBe('ready');
  });

  it('the balance machine reads changed rules again, without losing count of the misses', () => {
    const { actor } = started();
    actor.send({ type: 'balance.loaded' });
    actor.send({ ...missed, rulesMoved: true });
    expect(actor.getSnapshot().value).toBe('loading');
    actor.send({ type: 'balance.loaded' });
    actor.send(missed);
    expect(actor.getSnapshot().value).toBe('fenced');
  });

  it('the balance machine never misses more than twice without locking the row, whatever the order of events', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS)), (events) => {
        const { actor } = started();
        for (const event of events) {
          actor.send(event);
          const { value, context, status } = actor.getSnapshot();
          if (status === 'done') return;
          expect(context.misses).toBeLessThanOrEqual(2);
          if (value === 'ready') expect(context.misses).toBeLessThan(2);
        }
      }),
    );
  });
});
