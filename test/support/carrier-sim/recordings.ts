import { wavHeader } from '../../../media/wav.ts';
import type { RestAnswer, RestRequest } from './rest.ts';
import type { SimCall } from './sim-call.ts';

const FRAME_MS = 20;
const FRAME_BYTES = 160;
const SILENCE = 0xff;

/** A recording of a call. Times are milliseconds since the answer. */
export type SimRecording = {
  readonly sid: string;
  readonly callback: string | undefined;
  readonly beganAtMs: number;
  readonly pauses: { readonly fromMs: number; toMs: number | undefined }[];
  endedAtMs: number | undefined;
  isDeleted: boolean;
};

const running = ({ recordings }: SimCall): SimRecording | undefined =>
  recordings.find(({ endedAtMs }) => endedAtMs === undefined);

/** Starts a recording of a call, or changes the one that it is in. Undefined: the call is in no state for it. */
export function changeRecording(
  call: SimCall,
  form: URLSearchParams,
  sid: string | undefined,
): RestAnswer | undefined {
  if (!call.isAnswered || call.isOver) return undefined;
  if (sid === undefined) {
    const recording = {
      sid: `RE${call.sid.slice(4)}${String(call.recordings.length).padStart(2, '0')}`,
      callback: form.get('RecordingStatusCallback') ?? undefined,
      beganAtMs: call.sinceAnswerMs(),
      pauses: [],
      endedAtMs: undefined,
      isDeleted: false,
    };
    call.recordings.push(recording);
    return { status: 201, body: { sid: recording.sid, status: 'in-progress', channels: 2 } };
  }
  const recording = running(call);
  if (recording === undefined) return { status: 404, body: { code: 20_404, status: 404 } };
  const status = form.get('Status');
  const pause = recording.pauses.at(-1);
  if (status === 'paused') recording.pauses.push({ fromMs: call.sinceAnswerMs(), toMs: undefined });
  if (status === 'in-progress' && pause !== undefined) pause.toMs = call.sinceAnswerMs();
  if (status === 'stopped') stopRecording(call);
  return { status: 200, body: { sid: recording.sid, status } };
}

/** Ends the recording of a call, and reports it. */
export function stopRecording(call: SimCall): void {
  const recording = running(call);
  if (recording === undefined) return;
  recording.endedAtMs = call.sinceAnswerMs();
  const { accountSid } = call.deps;
  call.callbacks.status(recording.callback, {
    CallSid: call.sid,
    AccountSid: accountSid,
    RecordingSid: recording.sid,
    RecordingUrl: `https://api.twilio.com/2010-04-01/Accounts/${accountSid}/Recordings/${recording.sid}`,
    RecordingStatus: 'completed',
    RecordingDuration: lengthOf(recording.beganAtMs, recording.endedAtMs),
    RecordingChannels: '2',
    RecordingSource: 'StartCallRecordingAPI',
  });
}

/** The recordings of a call that were not deleted. */
export function listRecordings(calls: readonly SimCall[], query: URLSearchParams): RestAnswer {
  const call = calls.find(({ sid }) => sid === query.get('CallSid'));
  const recordings = call?.recordings.filter(({ isDeleted }) => !isDeleted) ?? [];
  return { status: 200, body: { recordings: recordings.map(recordingBody) } };
}

const recordingBody = ({ beganAtMs, endedAtMs, sid }: SimRecording) => ({
  sid,
  status: endedAtMs === undefined ? 'in-progress' : 'completed',
  duration: endedAtMs === undefined ? '-1' : lengthOf(beganAtMs, endedAtMs),
});

const lengthOf = (beganAtMs: number, endedAtMs: number): string =>
  String(Math.round((endedAtMs - beganAtMs) / 1_000));

/** The sound of a recording, or its end. Undefined: there is none of this name. */
export function answerRecording(
  calls: readonly SimCall[],
  { method }: RestRequest,
  name: string,
): RestAnswer | undefined {
  const sid = name.replace(/\.wav$/, '');
  for (const call of calls) {
    const recording = call.recordings.find((one) => one.sid === sid);
    if (recording === undefined || recording.isDeleted) continue;
    if (recording.endedAtMs === undefined) return undefined;
    if (method === 'GET') return { status: 200, bytes: wavOf(call, recording) };
    recording.isDeleted = true;
    return { status: 204 };
  }
  return undefined;
}

/** Two channels: the far side, and the agent. */
function wavOf(call: SimCall, { beganAtMs, endedAtMs = 0, pauses }: SimRecording): Uint8Array {
  const heard = new Map(
    call.heard.map(({ atMs, bytes }) => [Math.floor(atMs / FRAME_MS), bytes] as const),
  );
  const frames: Uint8Array[] = [];
  const first = Math.ceil(beganAtMs / FRAME_MS);
  for (let frame = first; frame < Math.floor(endedAtMs / FRAME_MS); frame++) {
    const atMs = frame * FRAME_MS;
    const isPaused = pauses.some(({ fromMs, toMs = endedAtMs }) => atMs >= fromMs && atMs < toMs);
    const both = new Uint8Array(2 * FRAME_BYTES).fill(SILENCE);
    if (!isPaused) {
      const said = call.soundAt(atMs);
      const agent = heard.get(frame);
      for (let i = 0; i < FRAME_BYTES; i++) {
        both[2 * i] = said[i] ?? SILENCE;
        both[2 * i + 1] = agent?.[i] ?? SILENCE;
      }
    }
    frames.push(both);
  }
  const data = Buffer.concat(frames);
  const header = wavHeader({
    coding: 'mulaw',
    sampleRateHz: 8_000,
    dataBytes: data.length,
    channels: 2,
  });
  return Buffer.concat([header, data]);
}
