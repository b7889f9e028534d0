import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PacedClient } from '../../../../src/models/purchase/paced-client.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const PACE = { unsentBytes: 1_000, stallMs: 30_000 };

/** A client that is behind by so many bytes, and how the send to it ended. */
function behindBy(bytes: number) {
  const clock = new ManualClock();
  const socket = { bufferedAmount: bytes, send: () => true };
  const paced = new PacedClient(clock, PACE);
  const sent = paced.send(socket, 'x', new AbortController().signal);
  let ended: boolean | undefined;
  void sent.then((isTaken) => {
    ended = isTaken;
  });
  return {
    paced,
    sent,
    socket,
    async advance(ms: number) {
      clock.advance(ms);
      await turn();
      return ended;
    },
  };
}

describe('a client that is sent to as fast as it reads', () => {
  it.each([
    ['and says so', true],
    ['and says nothing', false],
  ])(
    'a slow client %s is waited for as long as it reads something within each stall time',
    async (_, says) => {
      const { advance, paced, sent, socket } = behindBy(5_000);
      for (let left = 4; left >= 1; left--) {
        expect(await advance(PACE.stallMs - 1)).toBeUndefined();
        socket.bufferedAmount = left * 1_000;
        if (says) paced.drained();
        else if (left > 1) expect(await advance(1)).toBeUndefined();
      }
      await advance(1);
      expect(await sent).toBe(true);
    },
  );

  it('a slow client is given up one stall time after the last bytes it read', async () => {
    const { advance, paced, socket } = behindBy(5_000);
    await advance(PACE.stallMs - 1);
    socket.bufferedAmount = 4_000;
    paced.drained();
    expect(await advance(PACE.stallMs - 1)).toBeUndefined();
    paced.drained();
    expect(await advance(1)).toBe(false);
  });

  it('a slow client is given up after ten stall times for one piece, however steadily it reads', async () => {
    const { advance, paced, socket } = behindBy(5_000);
    for (let half = 1; half < 20; half++) {
      expect(await advance(PACE.stallMs / 2)).toBeUndefined();
      socket.bufferedAmount--;
      paced.drained();
    }
    expect(await advance(PACE.stallMs / 2)).toBe(false);
  });
});
