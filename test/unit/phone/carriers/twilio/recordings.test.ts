import { describe, expect, it } from 'vitest';
import { createTwilioApi } from '../../../../../src/phone/carriers/twilio/api.ts';
import { hooksOf } from '../../../../../src/phone/carriers/twilio/hooks.ts';
import { createTwilioRecordings } from '../../../../../src/phone/carriers/twilio/recordings.ts';
import { type PeerAnswer, recordedFetch } from '../../../../support/recorded-fetch.ts';

const ACCOUNT = `AC${'0'.repeat(32)}`;
const ROOT = `http://127.0.0.1:9/2010-04-01/Accounts/${ACCOUNT}`;
const LEG = { callId: 'CAours', carrierCallId: 'CA9' };

function open(...answers: readonly PeerAnswer[]) {
  const { fetch, fetchStream, requests } = recordedFetch(...answers);
  const account = { accountSid: ACCOUNT, authToken: 'secret', baseUrl: 'http://127.0.0.1:9/' };
  const api = createTwilioApi({ ...account, fetch });
  const hooks = hooksOf('https://phone.example');
  return { recordings: createTwilioRecordings({ ...account, api, fetchStream, hooks }), requests };
}

describe('calls at Twilio', () => {
  it.each([
    [[], { kind: 'none' }],
    [
      [{ sid: 'RE1', status: 'processing', duration: '-1' }],
      { kind: 'unsure', recordingId: 'RE1' },
    ],
    [[{ sid: 'RE1', status: 'absent', duration: '0' }], { kind: 'none' }],
    [
      [{ sid: 'RE1', status: 'completed', duration: '61' }],
      { kind: 'whole', recordingId: 'RE1', durationSeconds: 61 },
    ],
    [[{ sid: 'RE2', status: 'completed', duration: '61' }], { kind: 'none' }],
  ])('a Twilio call with the recordings %o has as its own %o', async (made, found) => {
    const { recordings, requests } = open({ status: 200, body: { recordings: made } });
    expect(await recordings.findRecording(LEG, 'RE1')).toEqual(found);
    expect(requests[0]?.url).toBe(`${ROOT}/Recordings.json?CallSid=CA9&PageSize=20`);
  });

  it('a Twilio call whose recording id is not known has its only recording', async () => {
    const made = [{ sid: 'RE2', status: 'completed', duration: '61' }];
    const { recordings } = open({ status: 200, body: { recordings: made } });
    const found = { kind: 'whole', recordingId: 'RE2', durationSeconds: 61 };
    expect(await recordings.findRecording(LEG, null)).toEqual(found);
  });
});
