import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/kernel/random.ts';
import { openVendorClient } from '../../../src/marketplace/vendor-client.ts';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import type { FetchRequest } from '../../../src/platform/egress/fetch.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const HOUR_MS = 3_600_000;
const account = { baseUrl: 'http://v/v1/', credentials: ['k'], opens: () => ({ key: 'k' }) };

function doorOf(soundMs?: number) {
  const sent: FetchRequest[] = [];
  const clock = new ManualClock();
  const leaving = new AbortController();
  const fetch = async (request: FetchRequest) => {
    sent.push(request);
    if (request.method === 'DELETE') throw new Error('gone');
    return { status: 200, headers: {}, body: Buffer.from('{}') };
  };
  const door = openVendorClient({ fetch, clock, random: systemRandom }, account, {
    agentId: 1,
    signal: leaving.signal,
    ...(soundMs !== undefined && { soundMs }),
  });
  return { clock, door, leaving, sent };
}

describe('the time of an order', () => {
  it('a request of a vendor order times out after one minute, or ten for an hour of audio', async () => {
    const { door, sent } = doorOf();
    await door.send({ method: 'GET', path: '/a' });
    const long = doorOf(HOUR_MS);
    await long.door.send({ method: 'GET', path: '/a' });
    expect([sent[0]?.timeoutMs, long.sent[0]?.timeoutMs]).toEqual([60_000, 600_000]);
  });

  it('a timed-out vendor order still abandons its job, within a time limit and ignoring errors', async () => {
    const { clock, door, leaving, sent } = doorOf();
    clock.advance(60_000);
    leaving.abort();
    await expect(door.send({ method: 'GET', path: '/a' })).rejects.toThrow('took too long');
    await door.abandon({ method: 'DELETE', path: '/a' });
    expect(sent).toMatchObject([
      {
        method: 'DELETE',
        url: 'http://v/v1/a',
        headers: { key: 'k' },
        timeoutMs: MODEL_LIMITS.vendor.abandonMs,
      },
    ]);
    expect(sent[0]?.signal?.aborted ?? false).toBe(false);
  });
});
