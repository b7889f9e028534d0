import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CarrierFailed } from '../../../../../src/phone/carriers/carrier.ts';
import { createTelnyx } from '../../../../../src/phone/carriers/telnyx/telnyx.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { type PeerAnswer, recordedFetch } from '../../../../support/recorded-fetch.ts';

const ROOT = 'http://127.0.0.1:9/v2';
const HOOK = 'https://phone.example/v1/telephony/telnyx/voice';
const keys = generateKeyPairSync('ed25519');
const publicKey = keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

function open(...answers: readonly PeerAnswer[]) {
  const { fetch, fetchStream, requests } = recordedFetch(...answers);
  const clock = new ManualClock();
  const carrier = createTelnyx({
    apiKey: 'KEY1',
    publicKey,
    connectionId: '7267',
    baseUrl: 'http://127.0.0.1:9',
    publicUrl: 'https://phone.example',
    fetch,
    fetchStream,
    clock,
  });
  const body = (at: number) => JSON.parse(String(requests[at]?.body)) as Record<string, unknown>;
  return { carrier, requests, clock, body };
}

const data = (body: unknown, status = 200): PeerAnswer => ({ status, body: { data: body } });
const refusal = (status: number, code: string): PeerAnswer => ({
  status,
  body: { errors: [{ code, title: 'no', detail: 'not at all' }] },
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

const OFFERED = {
  phone_number: '+14155550199',
  region_information: [
    { region_type: 'country_code', region_name: 'US' },
    { region_type: 'rate_center', region_name: 'SAN FRANCISCO' },
    { region_type: 'state', region_name: 'CA' },
  ],
};
const ORDER = {
  id: 'order-1',
  status: 'success',
  customer_reference: 'purchase-1',
  phone_numbers: [{ id: 'x', phone_number: '+14155550199', status: 'success' }],
};
const NUMBER = { carrierNumberId: '+14155550199', phoneNumber: '+14155550199' };
const DIAL = {
  callId: 'CAours',
  from: '+14155550100',
  to: '+14155550199',
  ringSeconds: 30,
  longestSeconds: 600,
  detectsMachine: false,
};
const LEG = { callId: 'CAours', carrierCallId: 'v3:abc' };
const COMMANDS = `${ROOT}/calls/v3%3Aabc/actions`;

describe('numbers at Telnyx', () => {
  it('Telnyx numbers are searched by area code, for voice', async () => {
    const { carrier, requests } = open(data([OFFERED, { phone_number: '+14155550190' }]));
    expect(await carrier.numbers.search({ areaCode: '415', limit: 20 })).toEqual([
      {
        phoneNumber: '+14155550199',
        friendlyName: '(415) 555-0199',
        locality: 'SAN FRANCISCO',
        region: 'CA',
      },
      { phoneNumber: '+14155550190', friendlyName: '(415) 555-0190', locality: null, region: null },
    ]);
    const url = new URL(requests[0]?.url ?? '');
    expect(url.href.startsWith(`${ROOT}/available_phone_numbers?`)).toBe(true);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      'filter[country_code]': 'US',
      'filter[phone_number_type]': 'local',
      'filter[features][]': 'voice',
      'filter[best_effort]': 'false',
      'filter[limit]': '20',
      'filter[national_destination_code]': '415',
    });
    expect(requests[0]).toMatchObject({
      method: 'GET',
      headers: { authorization: 'Bearer KEY1' },
      timeoutMs: PHONE_LIMITS.carrier.timeoutMs,
      maxResponseBytes: PHONE_LIMITS.carrier.answerBytes,
    });
  });

  it('Telnyx numbers are searched exactly', async () => {
    const { carrier } = open(data([{ phone_number: '+14155550190' }, OFFERED]));
    const found = await carrier.numbers.search({ phoneNumber: '+14155550199', limit: 20 });
    expect(found.map(({ phoneNumber }) => phoneNumber)).toEqual(['+14155550199']);
  });

  it('Telnyx numbers are ordered with the reference of the purchase, and the order is polled until it is decided', async () => {
    const pending = { ...ORDER, status: 'pending' };
    const { carrier, requests, clock, body } = open(data(pending), data(pending), data(ORDER));
    const buying = carrier.numbers.buy({ phoneNumber: '+14155550199', purchaseId: 'purchase-1' });
    for (const asked of [1, 2]) {
      await expect.poll(() => requests.length).toBe(asked);
      await Promise.resolve();
      clock.advance(PHONE_LIMITS.carrier.orderCheckMs);
    }
    expect(await buying).toEqual(NUMBER);
    expect(requests[0]).toMatchObject({ method: 'POST', url: `${ROOT}/number_orders` });
    expect(body(0)).toEqual({
      phone_numbers: [{ phone_number: '+14155550199' }],
      connection_id: '7267',
      customer_reference: 'purchase-1',
    });
    expect(requests[1]?.url).toBe(`${ROOT}/number_orders/order-1`);
  });

  it('a Telnyx order that failed reports its number as taken', async () => {
    const { carrier } = open(data({ ...ORDER, status: 'failure' }), refusal(422, '85001'));
    for (let i = 0; i < 2; i++) {
      const buying = carrier.numbers.buy({ phoneNumber: '+14155550199', purchaseId: 'p' });
      await expect(buying).rejects.toMatchObject({ kind: 'taken' });
    }
  });

  it('a Telnyx order that stays undecided is reported as an unknown outcome', async () => {
    const pending = data({ ...ORDER, status: 'pending' });
    const { carrier, requests, clock } = open(
      ...Array.from({ length: PHONE_LIMITS.carrier.orderChecks + 1 }, () => pending),
    );
    const buying = carrier.numbers.buy({ phoneNumber: '+14155550199', purchaseId: 'p' });
    const failed = expect(buying).rejects.toMatchObject({ kind: 'away' });
    for (let asked = 1; asked <= PHONE_LIMITS.carrier.orderChecks; asked++) {
      await expect.poll(() => requests.length, { interval: 1 }).toBe(asked);
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(PHONE_LIMITS.carrier.orderCheckMs);
    }
    await failed;
  });

  it('a Telnyx number is found by its purchase among other and failed orders', async () => {
    const other = { ...ORDER, customer_reference: 'purchase-10' };
    const failed = { ...ORDER, status: 'failure' };
    const { carrier, requests } = open(data([other, failed, ORDER]), data([other, failed]));
    expect(await carrier.numbers.findPurchase('purchase-1')).toEqual(NUMBER);
    expect(await carrier.numbers.findPurchase('purchase-1')).toBeUndefined();
    expect(requests[0]?.url).toBe(
      `${ROOT}/number_orders?filter%5Bcustomer_reference%5D=purchase-1`,
    );
  });

  it('a Telnyx number is released once, and a repeated release succeeds', async () => {
    const owned = data([{ id: '1293', phone_number: '+14155550199' }]);
    const { carrier, requests } = open(owned, data({}), data([]), owned, refusal(404, '10005'));
    await carrier.numbers.release('+14155550199');
    expect(requests[1]).toMatchObject({ method: 'DELETE', url: `${ROOT}/phone_numbers/1293` });
    await carrier.numbers.release('+14155550199');
    await carrier.numbers.release('+14155550199');
    expect(requests).toHaveLength(5);
  });
});

describe('calls at Telnyx', () => {
  it('a Telnyx call is placed with our call id, the webhook and the limits, and no more', async () => {
    const { carrier, requests, body } = open(data({ call_control_id: 'v3:abc' }));
    expect(await carrier.calls.dial(DIAL)).toEqual({ carrierCallId: 'v3:abc' });
    expect(requests[0]).toMatchObject({ method: 'POST', url: `${ROOT}/calls` });
    expect(body(0)).toEqual({
      connection_id: '7267',
      from: '+14155550100',
      to: '+14155550199',
      timeout_secs: 30,
      time_limit_secs: 600,
      client_state: base64('outbound CAours'),
      command_id: 'CAours-dial',
      webhook_url: HOOK,
      webhook_url_method: 'POST',
    });
  });

  it('a Telnyx call requests machine detection when it is wanted', async () => {
    const { carrier, body } = open(data({ call_control_id: 'v3:abc' }));
    await carrier.calls.dial({ ...DIAL, detectsMachine: true });
    expect(body(0)).toMatchObject({
      answering_machine_detection: 'detect',
    });
  });

  it('a Telnyx call requests the end of the greeting when a message is to be left to a machine', async () => {
    const { carrier, body } = open(data({ call_control_id: 'v3:abc' }));
    await carrier.calls.dial({ ...DIAL, detectsMachine: true, awaitsGreetingEnd: true });
    expect(body(0)).toMatchObject({ answering_machine_detection: 'greeting_end' });
  });

  it('a Telnyx call is hung up in any state', async () => {
    const { carrier, requests } = open(data({}), refusal(422, '90018'), refusal(404, '10005'));
    for (let i = 0; i < 3; i++) await carrier.calls.hangUp('v3:abc');
    expect(requests[0]?.url).toBe(`${COMMANDS}/hangup`);
  });

  it.each([
    [{ is_alive: true, call_duration: 7 }, 'in-progress', null],
    [{ is_alive: false }, 'queued', null],
    [{ is_alive: false, end_time: '2026-11-24T10:00:00Z', call_duration: 61 }, 'completed', 61],
    [{ is_alive: false, end_time: '2026-11-24T10:00:00Z', call_duration: 0 }, 'no-answer', 0],
  ])('a Telnyx call is found as %o', async (found, status, durationSeconds) => {
    const { carrier, requests } = open(data({ call_control_id: 'v3:abc', ...found }));
    expect(await carrier.calls.find('v3:abc')).toEqual({
      carrierCallId: 'v3:abc',
      status,
      durationSeconds,
      priceRaw: null,
    });
    expect(requests[0]?.url).toBe(`${ROOT}/calls/v3%3Aabc`);
  });

  it('an unknown Telnyx call is not found', async () => {
    expect(await open(refusal(404, '10005')).carrier.calls.find('v3:abc')).toBeUndefined();
  });

  it('a Telnyx call sends digits, and stops its stream before a transfer', async () => {
    const { carrier, requests, body } = open(data({}), data({}), data({}));
    await carrier.calls.sendDigits(LEG, '1#');
    await carrier.calls.transfer(LEG, { to: '+14155550123', longestSeconds: 840, whispers: false });
    expect(requests.map(({ url }) => url)).toEqual([
      `${COMMANDS}/send_dtmf`,
      `${COMMANDS}/streaming_stop`,
      `${COMMANDS}/transfer`,
    ]);
    expect(body(0)).toEqual({ digits: '1#' });
    expect(body(1)).toEqual({ client_state: base64('transferring CAours') });
    expect(body(2)).toEqual({
      to: '+14155550123',
      timeout_secs: 60,
      time_limit_secs: 840,
      target_leg_client_state: base64('target CAours v3:abc'),
      webhook_url: HOOK,
      webhook_url_method: 'POST',
    });
  });
});

describe('instructions to Telnyx', () => {
  const ASKED = {
    kind: 'answered',
    callId: 'CAours',
    carrierCallId: 'v3:abc',
    from: '+14155550100',
    to: '+14155550199',
    isAgain: false,
  } as const;
  const OUTSIDE = { ...ASKED, callId: undefined };
  const STREAM = {
    stream_url: 'wss://phone.example/v1/telephony/telnyx/media?call=CAours',
    stream_auth_token: expect.stringMatching(/^[\w-]{43}$/),
    stream_track: 'inbound_track',
    stream_codec: 'PCMU',
    stream_bidirectional_mode: 'rtp',
    stream_bidirectional_codec: 'PCMU',
    stream_bidirectional_sampling_rate: 8_000,
    stream_bidirectional_target_legs: 'self',
  };
  const instruct = async (
    asked: typeof ASKED | typeof OUTSIDE | (Omit<typeof ASKED, 'isAgain'> & { isAgain: true }),
    instruction: Parameters<
      NonNullable<ReturnType<typeof open>['carrier']['callbacks']>['instruct']
    >[1],
    answer = data({}),
  ) => {
    const { carrier, requests, body } = open(answer);
    const said = await carrier.callbacks?.instruct(asked, instruction);
    expect(said).toEqual({ status: 200, contentType: 'application/json', body: '{}' });
    return { action: requests[0]?.url.split('/').at(-1), body: body(0) };
  };

  it('Telnyx is instructed once to answer an inbound call with its stream', async () => {
    expect(await instruct(OUTSIDE, { kind: 'stream', callId: 'CAours' })).toEqual({
      action: 'answer',
      body: {
        ...STREAM,
        client_state: base64('inbound CAours'),
        command_id: 'CAours-answer',
      },
    });
  });

  it('Telnyx is instructed to open the stream of an outbound call once, and again each time that it broke', async () => {
    expect(await instruct(ASKED, { kind: 'stream', callId: 'CAours' })).toEqual({
      action: 'streaming_start',
      body: { ...STREAM, command_id: 'CAours-stream' },
    });
    const again = { ...ASKED, isAgain: true } as const;
    expect(await instruct(again, { kind: 'stream', callId: 'CAours' })).toEqual({
      action: 'streaming_start',
      // A transfer has set another state, which Telnyx would keep.
      body: { ...STREAM, client_state: base64('streamed CAours') },
    });
  });

  it('Telnyx instructions that come too late do not fail', async () => {
    const again = { ...ASKED, isAgain: true } as const;
    const over = refusal(422, '90018');
    await instruct(again, { kind: 'stream', callId: 'CAours' }, over);
    await instruct(ASKED, { kind: 'hang_up' }, over);
  });

  it('Telnyx is instructed to end a call, and to refuse a waiting one', async () => {
    expect(await instruct(ASKED, { kind: 'hang_up' })).toMatchObject({ action: 'hangup' });
    expect(await instruct(OUTSIDE, { kind: 'reject', reason: 'busy' })).toEqual({
      action: 'reject',
      body: { cause: 'USER_BUSY' },
    });
    expect(await instruct(OUTSIDE, { kind: 'reject', reason: 'rejected' })).toEqual({
      action: 'reject',
      body: { cause: 'CALL_REJECTED' },
    });
    expect(await instruct(ASKED, { kind: 'reject', reason: 'busy' })).toMatchObject({
      action: 'hangup',
    });
  });

  it('Telnyx instructions that Telnyx cannot take fail, so that Telnyx calls back again', async () => {
    const { carrier } = open(refusal(500, '10007'));
    const asked = carrier.callbacks?.instruct(ASKED, { kind: 'stream', callId: 'CAours' });
    await expect(asked).rejects.toMatchObject({ kind: 'away' });
  });
});

describe('failures of Telnyx', () => {
  it.each<[string, PeerAnswer, CarrierFailed['kind'], string | undefined]>([
    ['a bad request', refusal(422, '10015'), 'refused', '10015'],
    ['a wrong credential', refusal(401, '10009'), 'refused', '10009'],
    ['too many requests', refusal(429, '10011'), 'away', '10011'],
    ['a failure over there', { status: 503, body: 'sorry' }, 'away', '503'],
    ['a broken connection', new Error('ECONNRESET'), 'away', undefined],
    ['an answer that is no JSON', { status: 200, body: '<html>' }, 'away', undefined],
    ['an answer without a call', data({}), 'away', undefined],
  ])(
    'a Telnyx call that fails with %s has the kind and code of that failure',
    async (_, answer, kind, code) => {
      const { carrier, requests } = open(answer);
      const dialling = carrier.calls.dial(DIAL);
      await expect(dialling).rejects.toBeInstanceOf(CarrierFailed);
      await expect(dialling).rejects.toMatchObject({ kind, code });
      expect(requests).toHaveLength(1);
    },
  );
});
