import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import {
  askVendor,
  openTarget,
  openVendor,
  sendVendor,
  VENDOR_TIMES,
} from '../../../../src/payments/proxy/vendor-call.ts';
import {
  BlockedDestination,
  Unreachable,
} from '../../../../src/platform/egress/blocked-destination.ts';
import { EGRESS_LIMITS } from '../../../../src/platform/egress/limits.ts';
import { BadRequestHeader, SendFailed } from '../../../../src/platform/egress/send-failed.ts';
import { fakeAnswer, placeOf, scriptedClient } from '../../../support/fakes/scripted-client.ts';
import { askerNamed } from '../../../support/guarded.ts';

const URL_ = 'https://vendor.example/paid';
const REQUEST = { method: 'POST', headers: [['a', 'b']], body: 'c' } as const;
const STAYS = new AbortController().signal;

const opening = (error: Error) =>
  scriptedClient({
    open: () => {
      throw error;
    },
  }).client;

const ASKER = askerNamed('a');

const asking = (error: Error, signal = STAYS) => {
  const { client } = scriptedClient({
    send: () => {
      throw error;
    },
  });
  return askVendor(client, placeOf(URL_), REQUEST, VENDOR_TIMES, signal);
};

describe('a target', () => {
  it('a blocked target is refused with 400 and the reason', async () => {
    const client = opening(new BlockedDestination('the host name is a local one'));
    for (const open of [openVendor, openTarget]) {
      await expect(open(client, URL_, ASKER)).rejects.toMatchObject({
        status: 400,
        error: 'blocked_destination',
        fields: { detail: 'the host name is a local one' },
      });
    }
  });

  it('a target whose name does not resolve fails a call, and is undefined for a price request', async () => {
    const client = opening(new Unreachable('no'));
    await expect(openVendor(client, URL_, ASKER)).rejects.toMatchObject({
      status: 502,
      error: 'Failed to reach target URL',
      fault: 'unresolved',
    });
    expect(await openTarget(client, URL_, ASKER)).toBeUndefined();
  });

  it('a bug in opening or asking a vendor is rethrown and not turned into a refusal', async () => {
    const bug = new TypeError('bug');
    await expect(openVendor(opening(bug), URL_, ASKER)).rejects.toBe(bug);
    await expect(asking(bug)).rejects.toBe(bug);
  });
});

describe('asking a vendor', () => {
  it('a request to a vendor is sent once with the size and time limits of the proxy', async () => {
    const { client, sent } = scriptedClient({ send: () => fakeAnswer({ status: 204 }) });
    const place = placeOf(URL_);
    const answer = await askVendor(client, place, REQUEST, VENDOR_TIMES, STAYS);
    expect(answer.status).toBe(204);
    expect(sent).toEqual([
      {
        destination: place,
        request: {
          ...REQUEST,
          signal: STAYS,
          maxResponseBytes: PAYMENT_LIMITS.proxy.answerBytes,
          maxHeaderBytes: EGRESS_LIMITS.response.headerBytes,
          timeouts: {
            connectMs: PAYMENT_LIMITS.proxy.connectMs,
            idleMs: PAYMENT_LIMITS.proxy.idleMs,
            firstByteMs: PAYMENT_LIMITS.proxy.unpaidMs,
            totalMs: PAYMENT_LIMITS.proxy.unpaidMs,
          },
        },
      },
    ]);
  });

  it('a vendor that gives no answer is reported with the fault, without its address', async () => {
    for (const [reason, detail] of [
      ['busy', /No connection to the vendor was free/],
      ['unreachable', /took no connection/],
      ['tls', /could not prove/],
      ['timeout', /not answer in time/],
      ['aborted', /given up/],
      ['broken', /closed the connection/],
    ] as const) {
      const cause = new Error('connect ECONNREFUSED 10.0.0.1:80');
      await expect(asking(new SendFailed(reason, { beforeBytes: true, cause }))).rejects.toEqual(
        expect.objectContaining({
          status: 502,
          error: 'Failed to reach target URL',
          fault: reason,
          fields: expect.objectContaining({ detail: expect.stringMatching(detail) }),
        }),
      );
    }
  });

  it('a request to a vendor ends with 499 when the client has left', async () => {
    const left = AbortSignal.abort();
    const aborted = new SendFailed('aborted', { beforeBytes: false });
    await expect(asking(aborted, left)).rejects.toMatchObject({ status: 499 });
  });

  it('a request to a vendor with a header that cannot be sent is refused with 400', async () => {
    await expect(asking(new BadRequestHeader('the headers are too large'))).rejects.toMatchObject({
      status: 400,
      error: 'Invalid request',
      fields: { details: [{ path: ['headers'], message: 'the headers are too large' }] },
    });
  });

  it('a paid request to a vendor fails with the error of the HTTP client', async () => {
    const failure = new SendFailed('timeout', { beforeBytes: false });
    const { client } = scriptedClient({
      send: () => {
        throw failure;
      },
    });
    const times = { totalMs: 5, idleMs: 4 };
    await expect(sendVendor(client, placeOf(URL_), REQUEST, times, STAYS)).rejects.toBe(failure);
  });
});
