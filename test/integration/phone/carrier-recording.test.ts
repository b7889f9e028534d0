import { expect, it } from 'vitest';
import { parseWav } from '../../../media/wav.ts';
import type { Callee } from '../../support/carrier-sim/options.ts';
import { openTwilio } from '../../support/open-carrier.ts';
import { wholeOf } from '../../support/recorded-fetch.ts';

const soon = <T>(look: () => T) => expect.poll(look, { interval: 5 });

/** A call at a carrier whose callbacks come twice. */
async function dialled(callee: () => Callee) {
  const { carrier, edge, placed } = await openTwilio({
    callee,
    faults: { duplicatesCallbacks: true },
  });
  return { call: await placed(), carrier, edge };
}

it('a call is recorded on demand in two channels, without the paused parts, and the recording is reported once', async () => {
  const says = [{ atMs: 0, bytes: Buffer.alloc(120_000 * 8, 0x2a) }];
  const { carrier, edge, call } = await dialled(() => ({ says }));
  await soon(() => call.stream?.isOpen === true).toBe(true);
  const leg = { callId: 'CAours', carrierCallId: call.sid };
  expect(await carrier.calls.findRecording(leg, null)).toEqual({ kind: 'none' });
  const recordingId = (await carrier.calls.startRecording(leg)) ?? '';
  const find = () => carrier.calls.findRecording(leg, recordingId);
  expect(await find()).toEqual({ kind: 'unsure', recordingId });
  expect(await carrier.calls.fetchRecording(recordingId)).toBeUndefined();
  const span = async (ms: number) => {
    const from = call.sinceAnswerMs();
    await soon(() => call.sinceAnswerMs() > from + ms).toBe(true);
  };
  await span(600);
  await carrier.calls.pauseRecording(leg);
  await span(600);
  await carrier.calls.resumeRecording(leg);
  await carrier.calls.stopRecording(leg);
  await carrier.calls.stopRecording(leg);
  await soon(() => edge.events.filter(({ kind }) => kind === 'recording').length).toBe(2);
  expect(edge.events).toContainEqual(expect.objectContaining({ recordingId }));
  expect(await find()).toMatchObject({ kind: 'whole', recordingId });
  const bytes = await wholeOf(await carrier.calls.fetchRecording(recordingId));
  const wav = parseWav(bytes);
  expect(wav).toMatchObject({ kind: 'parsed', channels: 2, coding: 'mulaw', truncated: false });
  const far = wav.kind === 'parsed' ? wav.data.filter((_, i) => i % 2 === 0) : new Uint8Array();
  const said = far.filter((byte) => byte === 0x2a).length / 8;
  expect(said).toBeGreaterThan(500);
  expect(said).toBeLessThan(far.length / 8 - 500);
  await carrier.calls.deleteRecording(recordingId);
  expect(await carrier.calls.fetchRecording(recordingId)).toBeUndefined();
  await carrier.calls.deleteRecording(recordingId);
  expect(await find()).toEqual({ kind: 'none' });
  await carrier.calls.hangUp(call.sid);
});
