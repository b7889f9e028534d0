import { describe, expect, it } from 'vitest';
import { createTelnyxApi } from '../../../../../src/phone/carriers/telnyx/api.ts';
import { createTelnyxRecordings } from '../../../../../src/phone/carriers/telnyx/recordings.ts';
import { type PeerAnswer, recordedFetch, wholeOf } from '../../../../support/recorded-fetch.ts';

const ROOT = 'http://127.0.0.1:9/v2';
const LEG = { callId: 'CAours', carrierCallId: 'v3:abc' };
const COMMANDS = `${ROOT}/calls/v3%3Aabc/actions`;

function open(...answers: readonly PeerAnswer[]) {
  const { fetch, fetchStream, requests } = recordedFetch(...answers);
  const api = createTelnyxApi({ apiKey: 'KEY1', baseUrl: 'http://127.0.0.1:9', fetch });
  const body = (at: number) => JSON.parse(String(requests[at]?.body)) as Record<string, unknown>;
  return { recordings: createTelnyxRecordings({ api, fetchStream }), requests, body };
}

const data = (body: unknown): PeerAnswer => ({ status: 200, body: { data: body } });
const refusal = (status: number, code: string): PeerAnswer => ({
  status,
  body: { errors: [{ code, title: 'no', detail: 'not at all' }] },
});

describe('calls at Telnyx', () => {
  it('Telnyx calls are recorded on demand, each side in its channel', async () => {
    const { recordings, requests, body } = open(
      data({}),
      data({ call_leg_id: 'leg-1' }),
      data({}),
      data({}),
      data({}),
      refusal(422, '90018'),
      refusal(422, '90018'),
      refusal(404, '10005'),
    );
    expect(await recordings.startRecording(LEG)).toBe('leg-1');
    expect(requests[1]?.url).toBe(`${ROOT}/calls/v3%3Aabc`);
    expect(body(0)).toMatchObject({ channels: 'dual', format: 'wav' });
    await recordings.pauseRecording(LEG);
    await recordings.resumeRecording(LEG);
    await recordings.stopRecording(LEG);
    await recordings.stopRecording(LEG);
    const commands = ['record_start', 'record_pause', 'record_resume', 'record_stop'];
    const told = requests.slice(0, 5).filter(({ method }) => method === 'POST');
    expect(told.map(({ url }) => url)).toEqual(commands.map((command) => `${COMMANDS}/${command}`));
    await expect(recordings.startRecording(LEG)).rejects.toMatchObject({ kind: 'refused' });
  });

  it('Telnyx calls are recorded also when their leg is not known', async () => {
    const { recordings } = open(data({}), refusal(503, '10007'));
    expect(await recordings.startRecording(LEG)).toBeUndefined();
  });

  it('the recording of a Telnyx call is found or missing by its leg, which is known or requested', async () => {
    const { recordings, requests } = open(
      refusal(404, '10005'),
      refusal(422, '90015'),
      refusal(503, '10007'),
      data({ call_leg_id: 'leg-1' }),
      data([]),
      data([{ id: 'rec-1', duration_millis: 61_400 }]),
    );
    const find = (known: string | null) => recordings.findRecording(LEG, known);
    expect(await find(null)).toEqual({ kind: 'unsure' });
    expect(await find(null)).toEqual({ kind: 'unsure' });
    await expect(find(null)).rejects.toMatchObject({ kind: 'away' });
    expect(await find(null)).toEqual({ kind: 'none', recordingId: 'leg-1' });
    const whole = { kind: 'whole', recordingId: 'leg-1', durationSeconds: 61 };
    expect(await find('leg-1')).toEqual(whole);
    expect(requests).toHaveLength(6);
  });

  it('the recordings of a Telnyx call are found by the leg of the call', async () => {
    const wav = 'https://recordings.example/1.wav?signed';
    const found = data([{ id: 'rec-1', download_urls: { wav } }]);
    const { recordings, requests } = open(
      found,
      { status: 200, body: 'RIFF' },
      found,
      data({}),
      data([]),
    );
    const sound = await wholeOf(await recordings.fetchRecording('leg-1'));
    expect(sound.toString()).toBe('RIFF');
    expect(requests[0]?.url).toBe(
      `${ROOT}/recordings?filter%5Bcall_leg_id%5D=leg-1&page%5Bsize%5D=1`,
    );
    expect(requests[1]?.url).toBe(wav);
    expect(requests[1]?.headers).toBeUndefined();
    await recordings.deleteRecording('leg-1');
    expect(requests[3]).toMatchObject({ method: 'DELETE', url: `${ROOT}/recordings/rec-1` });
    await recordings.deleteRecording('leg-1');
  });
});
