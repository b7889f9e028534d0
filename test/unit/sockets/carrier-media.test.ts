import { expect, it } from 'vitest';
import type { SocketConnection, SocketHandler } from '../../../src/http/route/socket-route.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import type { CarrierHooks } from '../../../src/phone/calls/calls.ts';
import { CallbackMalformed } from '../../../src/phone/carriers/carrier.ts';
import { createCarrierMediaSocket } from '../../../src/sockets/carrier-media.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { phoneCall } from '../../support/phone-line.ts';
import { settleAll } from '../../support/voice-world.ts';

const FORMAT = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
const STARTED = {
  kind: 'started',
  streamId: 'MZ1',
  callId: 'CAours',
  carrierCallId: 'CA1',
  format: FORMAT,
} as const;
const CODEC = {
  read: () => STARTED,
  media: () => 'media',
  mark: () => 'mark',
  clear: () => 'clear',
};

/** Opens streams of one call. Closing one runs its close handler at once, as the sockets of this server do. */
async function streams() {
  const clock = new ManualClock();
  const closed: number[] = [];
  const detached: string[] = [];
  const events = { detached: () => detached.push('detached') };
  const { call } = await phoneCall({ events });
  const hooks = {
    isGenuineUpgrade: () => true,
    openMedia: () => CODEC,
    async answerMedia({ connection, codec }) {
      call.attach(connection, codec);
      return call;
    },
  } satisfies Partial<CarrierHooks>;
  const route = createCarrierMediaSocket(hooks as unknown as CarrierHooks, {
    clock,
    mostUnstarted: 2,
    publicOrigin: 'http://127.0.0.1',
  });
  async function opened({ starts = true } = {}) {
    const handler: SocketHandler = await route.open({
      believe: () => {},
      headers: new Map(),
      log: silentLog,
      requestId: 'req_1',
      url: '/v1/telephony/twilio/media',
    });
    const connection = {
      send: () => true,
      batch: (work: () => void) => work(),
      close(code: number) {
        closed.push(code);
        handler.closed(code, '');
      },
    };
    handler.opened(connection as unknown as SocketConnection);
    if (starts) handler.frame?.(new Uint8Array(), false);
    return handler;
  }
  return { clock, closed, detached, opened };
}

it('a call is told when its media stream ends, but not when a replaced stream ends', async () => {
  const { detached, opened } = await streams();
  await opened();
  await settleAll();
  const second = await opened();
  await settleAll();
  expect(detached).toEqual([]);
  second.closed(1006, '');
  expect(detached).toEqual(['detached']);
});

it('a media stream that is replaced before its call is known does not detach the call from the new stream', async () => {
  const { detached, opened } = await streams();
  const first = opened();
  await opened();
  await first;
  await settleAll();
  expect(detached).toEqual([]);
});

it('a process that shuts down closes media streams without a call at once, and leaves the others to their calls', async () => {
  const { closed, opened } = await streams();
  const named = await opened();
  const unnamed = await opened({ starts: false });
  await settleAll();
  named.draining?.();
  expect(closed).toEqual([]);
  unnamed.draining?.();
  expect(closed).toEqual([1012]);
});

it('a media stream that names no call within ten seconds is closed, and a stream that names one stays open', async () => {
  const { clock, closed, opened } = await streams();
  await opened();
  await opened({ starts: false });
  clock.advance(9_999);
  expect(closed).toEqual([]);
  clock.advance(1);
  expect(closed).toEqual([1008]);
});

it('media streams that wait for their first message are limited, and a start or an end frees a place', async () => {
  const { opened } = await streams();
  const first = await opened({ starts: false });
  const second = await opened({ starts: false });
  await expect(opened()).rejects.toMatchObject({ status: 503, error: 'server_overloaded' });
  first.frame?.(new Uint8Array(), false);
  second.closed(1006, '');
  await opened({ starts: false });
  await opened({ starts: false });
  await expect(opened()).rejects.toMatchObject({ status: 503 });
});

it('a malformed carrier message closes its media stream with 1007 and a warning, and the next message is not read', async () => {
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown) => void warned.push(fields) };
  let reads = 0;
  const codec = {
    ...CODEC,
    read() {
      reads++;
      throw new CallbackMalformed('twilio: no message');
    },
  };
  const hooks = { isGenuineUpgrade: () => true, openMedia: () => codec };
  const route = createCarrierMediaSocket(hooks as unknown as CarrierHooks, {
    clock: new ManualClock(),
    publicOrigin: 'http://127.0.0.1',
  });
  const handler = await route.open({
    believe: () => {},
    headers: new Map(),
    log,
    requestId: 'req_1',
    url: '/v1/telephony/twilio/media',
  });
  const codes: number[] = [];
  handler.opened({ close: (code: number) => codes.push(code) } as unknown as SocketConnection);
  for (const _ of [1, 2]) handler.frame?.(new Uint8Array(3), false);
  expect(codes).toEqual([1007]);
  expect(reads).toBe(1);
  expect(warned).toMatchObject([{ err: { message: 'twilio: no message' } }]);
});
