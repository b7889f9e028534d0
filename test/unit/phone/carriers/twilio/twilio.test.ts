import { stdSerializers } from 'pino';
import { describe, expect, it } from 'vitest';
import { CarrierFailed } from '../../../../../src/phone/carriers/carrier.ts';
import { createTwilio } from '../../../../../src/phone/carriers/twilio/twilio.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import { type PeerAnswer, recordedFetch, wholeOf } from '../../../../support/recorded-fetch.ts';

const ACCOUNT = `AC${'0'.repeat(32)}`;
const ROOT = `http://127.0.0.1:9/2010-04-01/Accounts/${ACCOUNT}`;
const HOOKS = 'https://phone.example/v1/telephony/twilio';

function open(...answers: readonly PeerAnswer[]) {
  const { fetch, fetchStream, requests } = recordedFetch(...answers);
  const carrier = createTwilio({
    accountSid: ACCOUNT,
    authToken: 'secret',
    baseUrl: 'http://127.0.0.1:9/',
    publicUrl: 'https://phone.example',
    fetch,
    fetchStream,
  });
  const form = (at: number) => [...new URLSearchParams(String(requests[at]?.body))];
  return { carrier, requests, form };
}

const refusal = (status: number, code: number): PeerAnswer => ({
  status,
  body: { status, code, message: 'no', more_info: 'https://www.twilio.com/docs/errors' },
});
const failure = (asked: Promise<unknown>): Promise<CarrierFailed> =>
  asked.then(
    () => Promise.reject(new Error('nothing failed')),
    (error: unknown) => {
      expect(error).toBeInstanceOf(CarrierFailed);
      return error as CarrierFailed;
    },
  );

const OFFERED = {
  phone_number: '+14155550199',
  friendly_name: '(415) 555-0199',
  locality: 'San Francisco',
  region: 'CA',
};
const OWNED = { sid: 'PN1', phone_number: '+14155550199', friendly_name: 'purchase-1' };
const DIAL = {
  callId: 'CAours',
  from: '+14155550100',
  to: '+14155550199',
  ringSeconds: 30,
  longestSeconds: 600,
  detectsMachine: false,
};
const LEG = { callId: 'CAours', carrierCallId: 'CA9' };

describe('numbers at Twilio', () => {
  it('Twilio numbers are searched by area code, for voice and without an address requirement', async () => {
    const { carrier, requests } = open({
      status: 200,
      body: { available_phone_numbers: [OFFERED, { ...OFFERED, locality: null, region: null }] },
    });
    const found = await carrier.numbers.search({ areaCode: '415', limit: 20 });
    expect(found).toEqual([
      {
        phoneNumber: '+14155550199',
        friendlyName: '(415) 555-0199',
        locality: 'San Francisco',
        region: 'CA',
      },
      {
        phoneNumber: '+14155550199',
        friendlyName: '(415) 555-0199',
        locality: null,
        region: null,
      },
    ]);
    expect(requests[0]).toMatchObject({
      method: 'GET',
      url:
        `${ROOT}/AvailablePhoneNumbers/US/Local.json` +
        '?AreaCode=415&VoiceEnabled=true&ExcludeAllAddressRequired=true&PageSize=20',
      timeoutMs: PHONE_LIMITS.carrier.timeoutMs,
      maxResponseBytes: PHONE_LIMITS.carrier.answerBytes,
    });
    expect(requests[0]?.headers?.authorization).toBe(
      `Basic ${Buffer.from(`${ACCOUNT}:secret`).toString('base64')}`,
    );
  });

  it('Twilio numbers are searched exactly, and other matches are left out', async () => {
    const { carrier, requests } = open({
      status: 200,
      body: { available_phone_numbers: [{ ...OFFERED, phone_number: '+14155550190' }, OFFERED] },
    });
    const found = await carrier.numbers.search({ phoneNumber: '+14155550199', limit: 20 });
    expect(found.map(({ phoneNumber }) => phoneNumber)).toEqual(['+14155550199']);
    expect(requests[0]?.url).toContain('Contains=4155550199');
  });

  it('a Twilio number is bought with the name of the purchase and the webhooks of this server', async () => {
    const { carrier, requests, form } = open({ status: 201, body: OWNED });
    const bought = await carrier.numbers.buy({
      phoneNumber: '+14155550199',
      purchaseId: 'purchase-1',
    });
    expect(bought).toEqual({ carrierNumberId: 'PN1', phoneNumber: '+14155550199' });
    expect(requests[0]).toMatchObject({ method: 'POST', url: `${ROOT}/IncomingPhoneNumbers.json` });
    expect(requests[0]?.headers?.['Content-Type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(form(0))).toEqual({
      PhoneNumber: '+14155550199',
      FriendlyName: 'purchase-1',
      VoiceUrl: `${HOOKS}/voice`,
      VoiceMethod: 'POST',
      StatusCallback: `${HOOKS}/status`,
      StatusCallbackMethod: 'POST',
    });
  });

  it('a Twilio number is found by its purchase, whatever else the list has', async () => {
    const other = { ...OWNED, sid: 'PN0', friendly_name: 'purchase-10' };
    const { carrier, requests } = open(
      { status: 200, body: { incoming_phone_numbers: [other, OWNED] } },
      { status: 200, body: { incoming_phone_numbers: [other] } },
    );
    expect(await carrier.numbers.findPurchase('purchase-1')).toEqual({
      carrierNumberId: 'PN1',
      phoneNumber: '+14155550199',
    });
    expect(await carrier.numbers.findPurchase('purchase-1')).toBeUndefined();
    expect(requests[0]?.url).toContain('/IncomingPhoneNumbers.json?FriendlyName=purchase-1');
  });

  it('a Twilio number is released once, and a repeated release succeeds', async () => {
    const { carrier, requests } = open({ status: 204 }, refusal(404, 20_404), refusal(500, 20_500));
    await carrier.numbers.release('PN1');
    await carrier.numbers.release('PN1');
    expect(requests[0]).toMatchObject({
      method: 'DELETE',
      url: `${ROOT}/IncomingPhoneNumbers/PN1.json`,
    });
    expect(await failure(carrier.numbers.release('PN1'))).toMatchObject({ kind: 'away' });
  });
});

describe('calls at Twilio', () => {
  it('a Twilio call is placed with every webhook and limit, and no more than is requested', async () => {
    const { carrier, requests, form } = open({ status: 201, body: { sid: 'CA9' } });
    expect(await carrier.calls.dial(DIAL)).toEqual({ carrierCallId: 'CA9' });
    expect(requests[0]?.url).toBe(`${ROOT}/Calls.json`);
    expect(form(0)).toEqual([
      ['To', '+14155550199'],
      ['From', '+14155550100'],
      ['Method', 'POST'],
      ['StatusCallback', `${HOOKS}/status?call=CAours`],
      ['StatusCallbackEvent', 'initiated'],
      ['StatusCallbackEvent', 'ringing'],
      ['StatusCallbackEvent', 'answered'],
      ['StatusCallbackEvent', 'completed'],
      ['StatusCallbackMethod', 'POST'],
      ['Timeout', '30'],
      ['TimeLimit', '600'],
      ['Url', `${HOOKS}/voice?call=CAours`],
    ]);
  });

  it('a Twilio call detects machines without holding up the call', async () => {
    const { carrier, form } = open({ status: 201, body: { sid: 'CA9' } });
    await carrier.calls.dial({ ...DIAL, detectsMachine: true });
    expect(Object.fromEntries(form(0))).toMatchObject({
      MachineDetection: 'Enable',
      AsyncAmd: 'true',
      AsyncAmdStatusCallback: `${HOOKS}/machine?call=CAours`,
    });
  });

  it('a Twilio call is recorded on demand, each side in its channel', async () => {
    const { carrier, requests, form } = open(
      { status: 201, body: { sid: 'RE1' } },
      { status: 200, body: {} },
      { status: 200, body: {} },
      { status: 200, body: {} },
      refusal(404, 20_404),
      refusal(400, 21_220),
    );
    expect(await carrier.calls.startRecording(LEG)).toBe('RE1');
    expect(requests[0]?.url).toBe(`${ROOT}/Calls/CA9/Recordings.json`);
    expect(Object.fromEntries(form(0))).toEqual({
      RecordingChannels: 'dual',
      RecordingStatusCallback: `${HOOKS}/recording?call=CAours`,
      RecordingStatusCallbackMethod: 'POST',
      RecordingStatusCallbackEvent: 'completed',
    });
    await carrier.calls.pauseRecording(LEG);
    await carrier.calls.resumeRecording(LEG);
    await carrier.calls.stopRecording(LEG);
    expect(requests[1]?.url).toBe(`${ROOT}/Calls/CA9/Recordings/Twilio.CURRENT.json`);
    const changes = [1, 2, 3].map((at) => Object.fromEntries(form(at)));
    expect(changes).toEqual([
      { Status: 'paused', PauseBehavior: 'silence' },
      { Status: 'in-progress' },
      { Status: 'stopped' },
    ]);
    await carrier.calls.stopRecording(LEG);
    await carrier.calls.stopRecording(LEG);
  });

  it('a Twilio recording is fetched with the credential of the account, and deleted', async () => {
    const { carrier, requests } = open(
      { status: 200, body: 'RIFF' },
      refusal(404, 20_404),
      refusal(503, 20_503),
      { status: 204, body: '' },
      refusal(404, 20_404),
    );
    const sound = await wholeOf(await carrier.calls.fetchRecording('RE1'));
    expect(sound.toString()).toBe('RIFF');
    expect(requests[0]).toMatchObject({
      url: `${ROOT}/Recordings/RE1.wav?RequestedChannels=2`,
      headers: { authorization: `Basic ${Buffer.from(`${ACCOUNT}:secret`).toString('base64')}` },
      maxResponseBytes: PHONE_LIMITS.recording.bytes,
    });
    expect(await carrier.calls.fetchRecording('RE1')).toBeUndefined();
    expect(await failure(carrier.calls.fetchRecording('RE1'))).toMatchObject({ kind: 'away' });
    await carrier.calls.deleteRecording('RE1');
    await carrier.calls.deleteRecording('RE1');
    expect(requests[3]).toMatchObject({ method: 'DELETE', url: `${ROOT}/Recordings/RE1.json` });
  });

  it('a Twilio call detects the end of the greeting when a message is to be left to a machine', async () => {
    const { carrier, form } = open({ status: 201, body: { sid: 'CA9' } });
    await carrier.calls.dial({ ...DIAL, detectsMachine: true, awaitsGreetingEnd: true });
    expect(Object.fromEntries(form(0))).toMatchObject({
      MachineDetection: 'DetectMessageEnd',
      AsyncAmd: 'true',
    });
  });

  it('a Twilio call is hung up in any state', async () => {
    const over = refusal(400, 21_220);
    const { carrier, requests, form } = open({ status: 200, body: {} }, over, over, over, {
      status: 200,
      body: {},
    });
    await carrier.calls.hangUp('CA9');
    expect(requests[0]?.url).toBe(`${ROOT}/Calls/CA9.json`);
    expect(form(0)).toEqual([['Status', 'completed']]);
    await carrier.calls.hangUp('CA9');
    await carrier.calls.hangUp('CA9');
    expect(form(4)).toEqual([['Status', 'canceled']]);
  });

  it('a Twilio call that Twilio does not know is not found, and hanging it up succeeds', async () => {
    const { carrier } = open(refusal(404, 20_404), refusal(404, 20_404), refusal(404, 20_404));
    await carrier.calls.hangUp('CA9');
    expect(await carrier.calls.find('CA9')).toBeUndefined();
  });

  it('a Twilio call in a state that this server does not know fails the lookup', async () => {
    const { carrier } = open({ status: 200, body: { sid: 'CA9', status: 'dreaming' } });
    expect(await failure(carrier.calls.find('CA9'))).toMatchObject({ kind: 'away' });
  });

  it('a Twilio call that cannot be hung up reports the failure', async () => {
    const { carrier } = open(refusal(500, 20_500));
    expect(await failure(carrier.calls.hangUp('CA9'))).toMatchObject({ kind: 'away' });
  });

  it.each([
    [{ status: 'completed', duration: '61', price: '-0.02800', price_unit: 'USD' }, 61, 28_000n],
    [{ status: 'completed', duration: '61', price: null, price_unit: 'USD' }, 61, null],
    [{ status: 'completed', duration: '0', price: '-0.0085', price_unit: 'EUR' }, 0, null],
    [{ status: 'in-progress', duration: null, price: null, price_unit: 'USD' }, null, null],
  ])('a Twilio call is found as %o', async (body, durationSeconds, priceRaw) => {
    const { carrier } = open({ status: 200, body: { sid: 'CA9', ...body } });
    expect(await carrier.calls.find('CA9')).toEqual({
      carrierCallId: 'CA9',
      status: body.status,
      durationSeconds,
      priceRaw,
    });
  });

  it('a Twilio call sends digits and is transferred by new instructions', async () => {
    const { carrier, form } = open({ status: 200, body: {} }, { status: 200, body: {} });
    await carrier.calls.sendDigits(LEG, '1#');
    await carrier.calls.transfer(LEG, { to: '+14155550123', longestSeconds: 840, whispers: false });
    expect(form(0)[0]?.[1]).toContain('<Play digits="1#"/><Redirect');
    expect(form(1)[0]?.[0]).toBe('Twiml');
    expect(form(1)[0]?.[1]).toContain('>+14155550123</Number></Dial></Response>');
    expect(form(1)[0]?.[1]).not.toContain('/whisper?');
  });
});

describe('failures of Twilio', () => {
  it.each<[string, PeerAnswer, CarrierFailed['kind'], string | undefined]>([
    ['a number that is gone', refusal(400, 21_422), 'taken', '21422'],
    ['no number of an area', refusal(400, 21_452), 'taken', '21452'],
    ['a bad request', refusal(400, 20_001), 'refused', '20001'],
    ['a number that cannot be called', refusal(400, 21_211), 'invalid', '21211'],
    ['a wrong credential', refusal(401, 20_003), 'refused', '20003'],
    ['too many requests', refusal(429, 20_429), 'away', '20429'],
    ['a failure over there', { status: 503, body: 'sorry' }, 'away', '503'],
    ['a broken connection', new Error('ECONNRESET'), 'away', undefined],
    ['an answer that is no JSON', { status: 201, body: '<html>' }, 'away', undefined],
    ['an answer without a number', { status: 201, body: {} }, 'away', undefined],
  ])('a failed Twilio purchase (%s) has its kind and code', async (_, answer, kind, code) => {
    const { carrier, requests } = open(answer);
    const buying = carrier.numbers.buy({ phoneNumber: '+14155550199', purchaseId: 'p' });
    expect(await failure(buying)).toMatchObject({ kind, code });
    expect(requests).toHaveLength(1);
  });
});

it('a failure of Twilio names no number when it is logged', async () => {
  const message = "The 'To' number +14155550199 is not a valid phone number.";
  const { carrier } = open({ status: 400, body: { status: 400, code: 21_211, message } });
  const line = JSON.stringify(stdSerializers.err(await failure(carrier.calls.dial(DIAL))));
  expect(line).toContain("The 'To' number # is not a valid phone number.");
  expect(line).not.toContain('4155550199');
});

describe('the spend at Twilio', () => {
  const trigger = (sid: string, trigger_value: string, callback_url = `${HOOKS}/usage`) => ({
    sid,
    trigger_value,
    callback_url,
  });
  const list = (...usage_triggers: readonly unknown[]): PeerAnswer => ({
    status: 200,
    body: { usage_triggers },
  });

  it('the spend at Twilio is watched by one trigger a month, which is made once', async () => {
    const { carrier, requests, form } = open(
      list(trigger('UT0', '50', 'https://other.example/')),
      { status: 201, body: trigger('UT1', '50') },
      list(trigger('UT1', '50.00')),
    );
    await carrier.watchSpend?.(50);
    await carrier.watchSpend?.(50);
    expect(requests).toHaveLength(3);
    expect(requests[0]?.url).toBe(
      `${ROOT}/Usage/Triggers.json?Recurring=monthly&TriggerBy=price&UsageCategory=totalprice&PageSize=100`,
    );
    expect(Object.fromEntries(form(1))).toEqual({
      CallbackUrl: `${HOOKS}/usage`,
      CallbackMethod: 'POST',
      TriggerValue: '50',
      UsageCategory: 'totalprice',
      TriggerBy: 'price',
      Recurring: 'monthly',
      FriendlyName: 'phone service',
    });
  });

  it('the spend at Twilio is watched at the newest threshold alone', async () => {
    const { carrier, requests } = open(
      list(trigger('UT1', '50')),
      { status: 201, body: trigger('UT2', '80') },
      { status: 204 },
    );
    await carrier.watchSpend?.(80);
    expect(requests[2]).toMatchObject({
      method: 'DELETE',
      url: `${ROOT}/Usage/Triggers/UT1.json`,
    });
  });

  it('the spend at Twilio is no longer watched without a threshold, and other triggers stay', async () => {
    const { carrier, requests } = open(
      list(
        trigger('UT0', '50', 'https://other.example/'),
        trigger('UT1', '50'),
        trigger('UT2', '80'),
      ),
      refusal(404, 20_404),
      { status: 204 },
      list(),
      refusal(404, 20_404),
    );
    await carrier.watchSpend?.(undefined);
    expect(requests.slice(1)).toMatchObject([
      { method: 'DELETE', url: `${ROOT}/Usage/Triggers/UT1.json` },
      { method: 'DELETE', url: `${ROOT}/Usage/Triggers/UT2.json` },
    ]);
    await carrier.watchSpend?.(undefined);
    // No triggers at all at this address.
    await carrier.watchSpend?.(undefined);
    expect(requests).toHaveLength(5);
  });

  it('the spend at Twilio that cannot be watched at a threshold reports the failure', async () => {
    const { carrier } = open(refusal(404, 20_404));
    expect(await failure(carrier.watchSpend?.(50) ?? Promise.resolve())).toMatchObject({
      code: '20404',
    });
  });
});
