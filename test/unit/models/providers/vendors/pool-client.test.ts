import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { systemRandom } from '../../../../../src/kernel/random.ts';
import { failed, type Outcome } from '../../../../../src/models/providers/outcome.ts';
import type { UpstreamPool } from '../../../../../src/models/providers/upstream-pool.ts';
import { orderOver } from '../../../../../src/models/providers/vendors/pool-client.ts';
import {
  type VendorClient,
  VendorFailed,
  VendorGaveUp,
  VendorSaidTooMuch,
} from '../../../../../src/models/providers/vendors/vendor-api.ts';

const declined: Outcome<never> = {
  kind: 'declined',
  status: 422,
  body: Buffer.from('no'),
  contentType: 'text/plain',
};

function orders(refusal?: Outcome<never>) {
  const sent: unknown[] = [];
  const whole: UpstreamPool['whole'] = async (write, signal, read) => {
    if (signal.aborted) return { kind: 'aborted' };
    sent.push(write());
    return refusal ?? read({ status: 201, headers: {}, body: Buffer.from('yes') });
  };
  const order = (
    carryOut: (door: VendorClient) => Promise<object>,
    signal = new AbortController().signal,
  ) =>
    orderOver(
      { pool: { whole }, clock: systemClock, random: systemRandom, totalMs: 40 },
      { signal, paymentMethod: undefined },
      carryOut,
    );
  return { sent, order };
}

const GET = { method: 'GET', path: '/job?wait=0' } as const;

describe('an order of several requests', () => {
  it('a vendor order completes with the result of its requests', async () => {
    const { order, sent } = orders();
    const outcome = await order(async (door) => ({ said: String((await door.send(GET)).body) }));
    expect(outcome).toEqual({ kind: 'completed', status: 200, said: 'yes' });
    expect(sent).toEqual([{ ...GET, body: null, paymentMethod: undefined }]);
  });

  it.each([declined, failed('rate_limited', 'too many', 429, 7), { kind: 'aborted' } as const])(
    'a vendor order ends with the outcome of its first unsuccessful request: $kind',
    async (refusal) => {
      const { order, sent } = orders(refusal);
      const asked = order(async (door) => {
        await door.send(GET);
        return door.send(GET);
      });
      expect(await asked).toEqual(refusal);
      expect(sent).toHaveLength(1);
    },
  );

  it('a vendor order fails as broken on an invalid response, and throws on a bug', async () => {
    const { order } = orders();
    const none = () => Promise.reject(new VendorFailed('answered no object'));
    expect(await order(none)).toMatchObject({ kind: 'failed', failure: 'broken' });
    await expect(order(() => Promise.reject(new TypeError('x')))).rejects.toThrow(TypeError);
  });

  it('a vendor order fails as oversize when the response is larger than is read', async () => {
    const { order } = orders();
    const long = await order(() => Promise.reject(new VendorSaidTooMuch('answers too much')));
    expect(long).toMatchObject({ kind: 'failed', failure: 'oversize' });
  });

  it('a vendor order is declined with 422 when the vendor gives up the file', async () => {
    const { order } = orders();
    const given = await order(() => Promise.reject(new VendorGaveUp('could not: no "sound"')));
    expect(given).toMatchObject({ kind: 'declined', status: 422 });
    const { error } = JSON.parse(String(given.kind === 'declined' && given.body));
    expect(error.message).toBe('could not: no "sound"');
  });

  it('a vendor order times out, however often it polls', async () => {
    const { order, sent } = orders();
    const outcome = await order(async (door) => {
      for (;;) {
        await door.send(GET);
        await door.pause(15);
      }
    });
    expect(outcome).toMatchObject({ kind: 'failed', failure: 'timeout' });
    expect(sent.length).toBeLessThan(5);
  });

  it('a vendor order abandons its job even when its client has left', async () => {
    const { order, sent } = orders();
    const leaving = new AbortController();
    const DELETE = { method: 'DELETE', path: '/job' } as const;
    const given = order(async (door) => {
      leaving.abort();
      await door.abandon(DELETE);
      throw new VendorFailed('is not waited for');
    }, leaving.signal);
    expect(await given).toMatchObject({ kind: 'failed' });
    expect(sent).toEqual([{ ...DELETE, body: null, paymentMethod: undefined }]);
  });

  it('a vendor order stops waiting when its client leaves', async () => {
    const { order } = orders();
    const leaving = new AbortController();
    const asked = order(async (door) => {
      leaving.abort();
      await door.pause(30);
      return {};
    }, leaving.signal);
    expect(await asked).toEqual({ kind: 'aborted' });
  });
});
