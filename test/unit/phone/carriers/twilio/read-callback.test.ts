import { describe, expect, it } from 'vitest';
import { CallbackMalformed } from '../../../../../src/phone/carriers/carrier.ts';
import { readTwilioCallback } from '../../../../../src/phone/carriers/twilio/read-callback.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';

const CALL = { CallSid: 'CA9', From: '+14155550100', To: '+14155550199' };

const read = (hook: string, parameters: Record<string, string> | string, query = '?call=CAours') =>
  readTwilioCallback(hook, {
    url: `https://phone.example/v1/telephony/twilio/${hook}${query}`,
    headers: {},
    body: Buffer.from(
      typeof parameters === 'string' ? parameters : `${new URLSearchParams(parameters)}`,
    ),
  });

const TRANSFERRED = { kind: 'transferred', callId: 'CAours', carrierCallId: 'CA9' };

describe('callbacks of Twilio', () => {
  it('a Twilio callback requests instructions for an outbound call, an inbound call, and one whose stream has ended', () => {
    const event = { kind: 'answered', carrierCallId: 'CA9', from: CALL.From, to: CALL.To };
    expect(read('voice', CALL)).toEqual({ ...event, callId: 'CAours', isAgain: false });
    expect(read('voice', CALL, '')).toEqual({ ...event, callId: undefined, isAgain: false });
    expect(read('voice', CALL, '?call=CAours&again=1')).toEqual({
      ...event,
      callId: 'CAours',
      isAgain: true,
    });
  });

  it.each(['busy', 'no-answer', 'failed', 'canceled'])(
    'a Twilio callback brings the stream back after a transfer that was %s',
    (DialCallStatus) => {
      const event = read('voice', { ...CALL, DialCallStatus }, '?call=CAours&again=1');
      expect(event).toMatchObject({
        kind: 'answered',
        isAgain: true,
        transferFailed: DialCallStatus,
      });
    },
  );

  it('a Twilio callback lets a call end with the person that it was transferred to', () => {
    expect(read('voice', { ...CALL, DialCallStatus: 'completed' })).toEqual(TRANSFERRED);
    const leg = { ...CALL, CallSid: 'CA10', ParentCallSid: 'CA9' };
    expect(read('transfer', { ...leg, CallStatus: 'in-progress' })).toEqual(TRANSFERRED);
    expect(read('transfer', { ...leg, CallStatus: 'ringing' })).toEqual({ kind: 'ignored' });
  });

  it('a Twilio callback requests the whisper for a transfer of the call that the address names', () => {
    expect(read('whisper', CALL)).toEqual({ kind: 'whisper', callId: 'CAours' });
    expect(() => read('whisper', CALL, '')).toThrow('without call');
    expect(() => read('transfer', { ...CALL, CallStatus: 'in-progress' }, '')).toThrow();
  });

  it.each([
    ['initiated', 'queued'],
    ['queued', 'queued'],
    ['ringing', 'ringing'],
    ['in-progress', 'in-progress'],
    ['completed', 'completed'],
    ['busy', 'busy'],
    ['no-answer', 'no-answer'],
    ['canceled', 'canceled'],
    ['failed', 'failed'],
  ])('a Twilio callback reports that a call is %s', (CallStatus, status) => {
    expect(read('status', { ...CALL, CallStatus, SequenceNumber: '2' })).toEqual({
      kind: 'status',
      callId: 'CAours',
      carrierCallId: 'CA9',
      status,
      sequence: 2,
      durationSeconds: null,
      priceRaw: null,
    });
  });

  it.each([
    ['404', 'invalid'],
    ['484', 'invalid'],
    ['604', 'invalid'],
    ['503', 'failed'],
    ['', 'failed'],
  ])(
    'a Twilio callback tells a number that does not exist from other failures by the SIP answer %s',
    (code, status) => {
      const event = read('status', { ...CALL, CallStatus: 'failed', SipResponseCode: code });
      expect(event).toMatchObject({ kind: 'status', status });
    },
  );

  it('a Twilio callback reports the duration of an answered call', () => {
    const event = read('status', { ...CALL, CallStatus: 'completed', CallDuration: '61' });
    expect(event).toMatchObject({ durationSeconds: 61, sequence: 3 });
  });

  it('a Twilio callback with an unknown state is ignored', () => {
    expect(read('status', { ...CALL, CallStatus: 'dreaming' })).toEqual({ kind: 'ignored' });
  });

  it.each([
    ['human', 'human'],
    ['machine_start', 'machine_start'],
    ['machine_end_beep', 'machine_end'],
    ['machine_end_silence', 'machine_end'],
    ['machine_end_other', 'machine_end'],
    ['fax', 'fax'],
    ['unknown', 'unknown'],
    ['robot', 'unknown'],
  ])('a Twilio callback reports that %s answered', (AnsweredBy, answeredBy) => {
    expect(read('machine', { ...CALL, AnsweredBy })).toEqual({
      kind: 'machine',
      carrierCallId: 'CA9',
      answeredBy,
    });
  });

  it('a Twilio callback names a recording once it is available', () => {
    const recording = {
      ...CALL,
      RecordingSid: 'RE1',
      RecordingDuration: '7',
    };
    expect(read('recording', { ...recording, RecordingStatus: 'completed' })).toEqual({
      kind: 'recording',
      carrierCallId: 'CA9',
      recordingId: 'RE1',
      durationSeconds: 7,
    });
    expect(read('recording', { ...recording, RecordingStatus: 'absent' })).toEqual({
      kind: 'ignored',
    });
  });

  it('a Twilio callback reports the spend of the account', () => {
    const trigger = { UsageCategory: 'totalprice', TriggerBy: 'price', Recurring: 'monthly' };
    const fired = {
      CurrentValue: '50.0125',
      TriggerValue: '50',
      DateFired: 'Sun, 04 Oct 2026 12:00:05 +0000',
    };
    expect(read('usage', { ...trigger, ...fired })).toEqual({
      kind: 'usage',
      spentRaw: 50_012_500n,
      thresholdRaw: 50_000_000n,
      firedAtMs: Date.UTC(2026, 9, 4, 12, 0, 5),
    });
    const unread = { spentRaw: null, thresholdRaw: null, firedAtMs: null };
    expect(read('usage', { ...trigger, CurrentValue: 'much', DateFired: 'now' })).toEqual({
      kind: 'usage',
      ...unread,
    });
  });

  it.each([{ UsageCategory: 'calls' }, { TriggerBy: 'count' }, { Recurring: 'daily' }])(
    'a Twilio callback of a usage trigger that is not ours is ignored: %j',
    (other) => {
      const ours = { UsageCategory: 'totalprice', TriggerBy: 'price', Recurring: 'monthly' };
      const fired = { CurrentValue: '50.0125', TriggerValue: '50' };
      expect(read('usage', { ...ours, ...fired, ...other })).toEqual({ kind: 'ignored' });
    },
  );

  it('a Twilio callback decodes its form, and takes the first of a parameter that comes twice', () => {
    const event = read('voice', 'CallSid=CA9&From=%2B14155550100&To=anne+%26+co&From=x');
    expect(event).toMatchObject({ from: '+14155550100', to: 'anne & co' });
  });

  it.each<[string, string, Record<string, string> | string]>([
    ['an unknown hook', 'sms', CALL],
    ['no call', 'voice', { From: '+1', To: '+2' }],
    ['an empty call', 'voice', { ...CALL, CallSid: '' }],
    ['a caller without end', 'voice', { ...CALL, From: '1'.repeat(2_000) }],
    ['no state', 'status', CALL],
    ['no verdict', 'machine', CALL],
    ['a recording without a name', 'recording', CALL],
    ['too many parameters', 'voice', 'a=1&'.repeat(PHONE_LIMITS.carrier.callbackParameters + 1)],
    ['too large a body', 'voice', `a=${'1'.repeat(PHONE_LIMITS.carrier.callbackBytes)}`],
  ])('a Twilio callback with %s is refused', (_, hook, parameters) => {
    expect(() => read(hook, parameters)).toThrow(CallbackMalformed);
  });
});
