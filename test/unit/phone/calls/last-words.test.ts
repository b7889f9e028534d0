import { describe, expect, it } from 'vitest';
import { LAST_WORDS } from '../../../../src/phone/calls/call-pipeline.ts';
import { phoneCall } from '../../../support/phone-line.ts';

const COUNT = 'One two three four. Five six seven eight. Nine ten eleven twelve.';

/** A call in the middle of an answer, with what happens at its end in order. */
async function talking() {
  const order: string[] = [];
  const spoken: number[] = [];
  const world = await phoneCall({
    change: { spoke: (characters) => spoken.push(characters) },
    events: {
      over: () => order.push('over'),
      detached: () => order.push('detached'),
    },
  });
  world.answers(COUNT);
  await world.says('count');
  void world.call.settled.then(() => order.push('settled'));
  return { ...world, order, spoken };
}

describe('the end of a call', () => {
  it.each(['budget_exhausted', 'max_duration', 'inactivity'])(
    'a call that ends by %s settles once its last words were heard, and bills them by the character',
    async (reason) => {
      const { call, callee, clock, ledger, order, passes, spoken } = await talking();
      const endedMs = clock.monotonicMs();
      call.end(reason);
      await passes(400);
      expect([order, ledger.openHolds()]).toEqual([[], 1]);
      await passes(5_000);
      expect(order).toEqual(['over', 'settled']);
      expect(callee.heardMs(endedMs + 40)).toBeGreaterThan(400);
      expect(spoken).toEqual([LAST_WORDS.length]);
      expect(ledger.openHolds()).toBe(0);
    },
  );

  it('a call that its agent ends settles once the answer in progress was heard', async () => {
    const { call, ledger, order, passes, spoken } = await talking();
    call.end('agent_ended');
    await passes(200);
    expect([order, ledger.openHolds()]).toEqual([[], 1]);
    await passes(2_000);
    expect([order, spoken]).toEqual([['over', 'settled'], []]);
  });

  it.each([
    ['hangs up', (call: Awaited<ReturnType<typeof talking>>['call']) => call.hungUp()],
    ['loses its stream', (call: Awaited<ReturnType<typeof talking>>['call']) => call.detached()],
  ])('a call settles at once when its callee %s within the last words', async (_, leave) => {
    const { call, ledger, order, passes } = await talking();
    call.end('max_duration');
    await passes(400);
    leave(call);
    await passes(20);
    // The line is billed until the stream was gone.
    expect(order).toEqual(['detached', 'over', 'settled']);
    expect(ledger.openHolds()).toBe(0);
  });

  it('a call settles at once when its process stops within the last words', async () => {
    const { call, ledger, order, passes } = await talking();
    call.end('max_duration');
    await passes(400);
    call.abandon();
    await passes(20);
    expect(order).toContain('settled');
    expect(ledger.openHolds()).toBe(0);
  });

  it('a call bills no last words that could not be spoken', async () => {
    const { call, engines, order, passes, spoken } = await talking();
    engines.tts.flite.between = () => Promise.reject(new Error('no voice'));
    call.end('max_duration');
    await passes(6_000);
    expect([order, spoken]).toEqual([['over', 'settled'], []]);
  });
});
