import { describe, expect, it } from 'vitest';
import { CallbackMalformed } from '../../../../../src/phone/carriers/carrier.ts';
import {
  type ClientState,
  decodeClientState,
  encodeClientState,
} from '../../../../../src/phone/carriers/telnyx/client-state.ts';
import { readTelnyxCallback } from '../../../../../src/phone/carriers/telnyx/read-callback.ts';

const AT = '2026-11-24T10:00:00.000Z';
const OUTBOUND: ClientState = { kind: 'outbound', callId: 'CAours' };
const INBOUND: ClientState = { kind: 'inbound', callId: 'CAours' };
const LEG: ClientState = { kind: 'target', callId: 'CAours', callControlId: 'v3:a' };

function bodyOf(event_type: string, state: ClientState | undefined, payload: object) {
  const own = {
    call_control_id: 'v3:abc',
    connection_id: '7',
    from: '+14155550100',
    to: '+14155550199',
    client_state: state === undefined ? null : encodeClientState(state),
    ...payload,
  };
  return { data: { record_type: 'event', event_type, id: '1', occurred_at: AT, payload: own } };
}

const readBody = (body: unknown, hook = 'voice') =>
  readTelnyxCallback(hook, {
    url: 'https://phone.example/v1/telephony/telnyx/voice',
    headers: {},
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  });
const read = (event: string, state?: ClientState, payload = {}) =>
  readBody(bodyOf(event, state, payload));

const ASKED = {
  kind: 'answered',
  callId: 'CAours',
  carrierCallId: 'v3:abc',
  from: '+14155550100',
  to: '+14155550199',
  isAgain: false,
};
const STATUS = {
  kind: 'status',
  callId: 'CAours',
  carrierCallId: 'v3:abc',
  sequence: expect.any(Number) as number,
  durationSeconds: null,
  priceRaw: null,
};

describe('callbacks of Telnyx', () => {
  it('a Telnyx callback requests instructions for an inbound call at its begin, and for an outbound call at its answer', () => {
    expect(read('call.initiated', undefined, { direction: 'incoming', state: 'parked' })).toEqual({
      ...ASKED,
      callId: undefined,
    });
    expect(read('call.answered', OUTBOUND)).toEqual(ASKED);
  });

  it('a Telnyx callback reports states that need no instruction', () => {
    expect(read('call.initiated', OUTBOUND, { direction: 'outgoing' })).toEqual({
      ...STATUS,
      status: 'ringing',
    });
    expect(read('call.answered', INBOUND)).toEqual({ ...STATUS, status: 'in-progress' });
  });

  it('Telnyx callbacks that arrive out of order carry their order as a number that fits a row', () => {
    const sequences = [
      read('call.initiated', OUTBOUND, { direction: 'outgoing' }),
      read('call.answered', INBOUND),
      read('call.hangup', OUTBOUND, { hangup_cause: 'user_busy' }),
    ].map((event) => (event.kind === 'status' ? event.sequence : -1));
    expect(sequences).toEqual([1, 2, 3]);
  });

  it('a Telnyx callback for a call that others placed with the same application is ignored', () => {
    expect(read('call.initiated', undefined, { direction: 'outgoing' })).toEqual({
      kind: 'ignored',
    });
    expect(read('call.answered', undefined)).toEqual({ kind: 'ignored' });
  });

  it.each([
    ['normal_clearing', 'completed'],
    ['time_limit', 'completed'],
    ['user_busy', 'busy'],
    ['call_rejected', 'busy'],
    ['timeout', 'no-answer'],
    ['no_answer', 'no-answer'],
    ['originator_cancel', 'canceled'],
    ['not_found', 'invalid'],
    ['unallocated_number', 'invalid'],
    ['invalid_number_format', 'invalid'],
    ['unspecified', 'failed'],
    ['constructor', 'failed'],
  ])('a Telnyx callback reports that a call has ended by %s', (hangup_cause, status) => {
    expect(read('call.hangup', OUTBOUND, { hangup_cause })).toEqual({ ...STATUS, status });
  });

  it('a Telnyx callback reports the cost of a call and its billed duration', () => {
    const cost = { total_cost: '0.0070', billed_duration_secs: 60, status: 'success' };
    expect(read('call.cost', OUTBOUND, cost)).toEqual({
      ...STATUS,
      status: 'completed',
      durationSeconds: 60,
      priceRaw: 7_000n,
    });
    expect(read('call.cost', OUTBOUND, { ...cost, billed_duration_secs: 0 })).toEqual({
      kind: 'ignored',
    });
  });

  it('a Telnyx callback of a broken stream brings the stream of the addressed call back', () => {
    const stream_url = 'wss://phone.example/v1/telephony/telnyx/media?call=CAours';
    const again = { ...ASKED, isAgain: true };
    expect(read('streaming.stopped', OUTBOUND, { stream_url })).toEqual(again);
    expect(read('streaming.failed', undefined, { stream_url })).toEqual(again);
    expect(read('streaming.stopped', undefined, { stream_url: 'wss://other.example' })).toEqual({
      kind: 'ignored',
    });
  });

  it('a Telnyx callback brings the stream back after a transfer that failed, and not after one that was answered', () => {
    expect(read('streaming.stopped', { kind: 'transferring', callId: 'CAours' })).toEqual({
      kind: 'ignored',
    });
    for (const [hangup_cause, transferFailed] of [
      ['user_busy', 'busy'],
      ['timeout', 'no-answer'],
      ['no_answer', 'no-answer'],
      ['call_rejected', 'busy'],
      ['not_found', 'failed'],
    ]) {
      expect(read('call.hangup', LEG, { hangup_cause })).toEqual({
        ...ASKED,
        carrierCallId: 'v3:a',
        isAgain: true,
        transferFailed,
      });
    }
    expect(read('call.hangup', LEG, { hangup_cause: 'normal_clearing' })).toEqual({
      kind: 'ignored',
    });
    expect(read('call.initiated', LEG, { direction: 'outgoing' })).toEqual({ kind: 'ignored' });
    expect(read('call.answered', LEG)).toEqual({
      kind: 'transferred',
      callId: 'CAours',
      carrierCallId: 'v3:a',
    });
  });

  it.each([
    ['call.machine.detection.ended', 'human', 'human'],
    ['call.machine.detection.ended', 'machine', 'machine_start'],
    ['call.machine.detection.ended', 'not_sure', 'unknown'],
    ['call.machine.premium.detection.ended', 'human_residence', 'human'],
    ['call.machine.premium.detection.ended', 'human_business', 'human'],
    ['call.machine.premium.detection.ended', 'fax_detected', 'fax'],
    ['call.machine.premium.detection.ended', 'silence', 'unknown'],
    ['call.machine.greeting.ended', 'beep_detected', 'machine_end'],
    ['call.machine.premium.greeting.ended', 'beep_detected', 'machine_end'],
  ])('a Telnyx callback reports by %s %s who answered', (event, result, answeredBy) => {
    expect(read(event, OUTBOUND, { result })).toEqual({
      kind: 'machine',
      carrierCallId: 'v3:abc',
      answeredBy,
    });
  });

  it('a Telnyx callback names a finished recording by its leg', () => {
    const event = read('call.recording.saved', OUTBOUND, {
      recording_started_at: '2026-11-24T10:00:00Z',
      recording_ended_at: '2026-11-24T10:01:01Z',
      call_leg_id: 'leg-1',
    });
    expect(event).toEqual({
      kind: 'recording',
      carrierCallId: 'v3:abc',
      recordingId: 'leg-1',
      durationSeconds: 61,
    });
  });

  it('a Telnyx callback of an unknown event is ignored', () => {
    for (const event of ['streaming.started', 'call.bridged', 'constructor', '__proto__']) {
      expect(read(event, OUTBOUND)).toEqual({ kind: 'ignored' });
    }
  });

  it.each<[string, unknown]>([
    ['nothing', ''],
    ['no JSON', 'CallSid=CA1'],
    ['no data', {}],
    ['no event', { data: { payload: {} } }],
    ['no payload', { data: { event_type: 'call.hangup' } }],
    ['no call', bodyOf('call.hangup', OUTBOUND, { call_control_id: undefined })],
    ['a call that is no text', bodyOf('call.hangup', OUTBOUND, { call_control_id: 7 })],
    ['a recording of no leg', bodyOf('call.recording.saved', OUTBOUND, {})],
    ['lists without end', `{"data":${'['.repeat(10_000)}`],
    ['too large a body', ' '.repeat(100_000)],
  ])('a Telnyx callback with %s is refused', (_, body) => {
    expect(() => readBody(body)).toThrow(CallbackMalformed);
  });

  it('Telnyx callbacks come to one address', () => {
    expect(() => readBody(bodyOf('call.hangup', OUTBOUND, {}), 'status')).toThrow(
      CallbackMalformed,
    );
  });
});

describe('what Telnyx keeps with a call', () => {
  it.each([OUTBOUND, INBOUND, LEG, { kind: 'transferring', callId: 'CAours' }] as const)(
    'client state stored at Telnyx comes back as it was given: %o',
    (state) => {
      expect(decodeClientState(encodeClientState(state))).toEqual(state);
    },
  );

  it.each([
    undefined,
    null,
    7,
    '',
    'aGF2ZSBhIG5pY2UgZGF5ID1d',
    Buffer.from('outbound').toString('base64'),
    Buffer.from('outbound CA<>').toString('base64'),
    Buffer.from('outbound CAours more').toString('base64'),
    Buffer.from('target CAours').toString('base64'),
    Buffer.from('target CAours v3:a more').toString('base64'),
    Buffer.from('toString CAours').toString('base64'),
    'A'.repeat(4_000),
  ])('client state stored at Telnyx is only read when this server wrote it: %j is none', (text) => {
    expect(decodeClientState(text)).toBeUndefined();
  });
});
