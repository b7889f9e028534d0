import { wavHeader } from '../../../../media/wav.ts';
import type { RestAnswer } from '../rest.ts';
import type { TelnyxCall } from './telnyx-call.ts';

const SILENCE = 0xff;
const BYTES_PER_MS = 8;
const DIGITS_OF_LEG = /[^\w-]/g;

/** What a call has recorded, by the milliseconds since its answer. */
export type TelnyxRecording = {
  readonly id: string;
  readonly beganAtMs: number;
  endedAtMs: number | undefined;
  pauses: number;
  isDeleted: boolean;
};

export const newRecording = (call: TelnyxCall): TelnyxRecording => ({
  id: `rec-${call.sid.replace(DIGITS_OF_LEG, '-')}`,
  beganAtMs: call.sinceAnswerMs(),
  endedAtMs: undefined,
  pauses: 0,
  isDeleted: false,
});

type Recorded = { readonly call: TelnyxCall; readonly recording: TelnyxRecording };

/** The recordings that are saved and were not deleted. */
const saved = (calls: readonly TelnyxCall[]): Recorded[] =>
  calls.flatMap((call) => {
    const { recording } = call;
    if (recording?.endedAtMs === undefined || recording.isDeleted) return [];
    return [{ call, recording }];
  });

/** `GET /v2/recordings?filter[call_leg_id]=…`. `filesUrl` is where their sound is. */
export const listRecordings = (
  calls: readonly TelnyxCall[],
  query: URLSearchParams,
  filesUrl: string,
) =>
  saved(calls)
    .filter(({ call }) => call.sid === query.get('filter[call_leg_id]'))
    .map(({ call, recording: { id, beganAtMs, endedAtMs = beganAtMs } }) => ({
      id,
      call_leg_id: call.sid,
      status: 'completed',
      channels: 'dual',
      duration_millis: Math.round(endedAtMs - beganAtMs),
      download_urls: { wav: `${filesUrl}${id}.wav` },
    }));

/** Undefined: there is none of this id. */
export function deleteRecording(calls: readonly TelnyxCall[], id: string): true | undefined {
  const found = saved(calls).find(({ recording }) => recording.id === id);
  if (found === undefined) return undefined;
  found.recording.isDeleted = true;
  return true;
}

/** The sound of a recording, in two channels, of silence. */
export function recordingFile(calls: readonly TelnyxCall[], name: string): RestAnswer {
  const found = saved(calls).find(({ recording }) => `${recording.id}.wav` === name);
  if (found === undefined) return { status: 404 };
  const { beganAtMs, endedAtMs = beganAtMs } = found.recording;
  const data = new Uint8Array(2 * BYTES_PER_MS * Math.round(endedAtMs - beganAtMs)).fill(SILENCE);
  const header = wavHeader({
    coding: 'mulaw',
    sampleRateHz: 8_000,
    channels: 2,
    dataBytes: data.length,
  });
  return { status: 200, bytes: Buffer.concat([header, data]) };
}
