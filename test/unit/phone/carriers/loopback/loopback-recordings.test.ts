import { expect, it } from 'vitest';
import { parseWav } from '../../../../../media/wav.ts';
import { systemRandom } from '../../../../../src/kernel/random.ts';
import { LoopbackRecordings } from '../../../../../src/phone/carriers/loopback/loopback-recordings.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import { wholeOf } from '../../../../support/recorded-fetch.ts';

const SAID = new Uint8Array(160).fill(1);
const HEARD = new Uint8Array(160).fill(2);

async function channelsOf(recordings: LoopbackRecordings, id: string) {
  const wav = parseWav(await wholeOf(recordings.wav(id)));
  if (wav.kind !== 'parsed') throw new Error('the recording is a file');
  expect(wav).toMatchObject({ channels: 2, coding: 'mulaw', truncated: false });
  return [0, 1].map((channel) => [...wav.data.filter((_, i) => i % 2 === channel)]);
}

it('a loopback recording has one channel per side, and silence while it was paused', async () => {
  const recordings = new LoopbackRecordings(systemRandom);
  recordings.frame('LB1', SAID, HEARD);
  const id = recordings.start('LB1');
  expect(recordings.start('LB1')).toBe(id);
  recordings.frame('LB1', SAID, HEARD);
  recordings.frame('LB1', SAID, undefined);
  recordings.pause('LB1', true);
  recordings.frame('LB1', SAID, HEARD);
  recordings.pause('LB1', false);
  expect(recordings.wav(id)).toBeUndefined();
  expect(recordings.find('LB1')).toEqual({ kind: 'unsure', recordingId: id });
  expect(recordings.finish('LB1')).toEqual({ recordingId: id, durationSeconds: 0 });
  expect(recordings.find('LB1')).toEqual({ kind: 'whole', recordingId: id, durationSeconds: 0 });
  expect(recordings.finish('LB1')).toBeUndefined();
  const silence = Array.from({ length: 160 }, () => 0xff);
  expect(await channelsOf(recordings, id)).toEqual([
    [...SAID, ...SAID, ...silence],
    [...HEARD, ...silence, ...silence],
  ]);
  recordings.delete(id);
  expect(recordings.find('LB1')).toEqual({ kind: 'none' });
  expect(recordings.wav(id)).toBeUndefined();
});

it('loopback recordings use bounded memory: the first seconds of each, and the latest recordings', async () => {
  const recordings = new LoopbackRecordings(systemRandom);
  const { loopbackRecordings, loopbackRecordingSeconds } = PHONE_LIMITS.carrier;
  const first = recordings.start('LB0');
  for (let frame = 0; frame < loopbackRecordingSeconds * 50 + 100; frame++) {
    recordings.frame('LB0', SAID, HEARD);
  }
  expect(recordings.finish('LB0')?.durationSeconds).toBe(loopbackRecordingSeconds);
  for (let i = 1; i <= loopbackRecordings; i++) {
    recordings.start(`LB${i}`);
    recordings.finish(`LB${i}`);
  }
  expect(recordings.wav(first)).toBeUndefined();
});
