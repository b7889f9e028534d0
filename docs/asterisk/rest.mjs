import { APP, ari } from './ari.mjs';
import { calls, end, follow, leaveStream, newCall, stopRecording } from './call.mjs';
import { deleteRecording, Recording, recordingFile, recordingOf } from './recording.mjs';
import { ACCOUNT, NUMBERS, TOKEN, TRUNK } from './settings.mjs';

/** The numbers that agents rent, by their ids. */
const sold = new Map();

const credential = `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')}`;
const refused = (status, code, message) => ({ status, body: { code, message, status } });
const notFound = refused(404, 20_404, 'The requested resource was not found');

/** The part of Twilio's REST interface that the server asks. */
export function answerRest({ authorization, form, method, path, query }) {
  if (authorization !== credential) return refused(401, 20_003, 'Authenticate');
  const [resource, id, part, partId] = path
    .replace(`/2010-04-01/Accounts/${ACCOUNT}/`, '')
    .replace(/\.(json|wav)$/, '')
    .split('/');
  if (resource === 'AvailablePhoneNumbers') return search(query);
  if (resource === 'IncomingPhoneNumbers') return numbers(method, id, form, query);
  if (resource === 'Recordings') return recordings(method, id, path, query);
  if (resource !== 'Calls') return notFound;
  if (id === undefined) return dial(form);
  const call = calls.get(id);
  if (call === undefined) return notFound;
  if (part === 'Recordings') return record(call, method, partId, form);
  return method === 'POST' ? update(call, form) : { status: 200, body: callBody(call) };
}

function search(query) {
  const taken = new Set([...sold.values()].map(({ phone_number }) => phone_number));
  const [areaCode, contains] = [query.get('AreaCode') ?? '', query.get('Contains') ?? ''];
  const free = NUMBERS.filter(
    (number) =>
      !taken.has(number) &&
      (areaCode === '' || number.startsWith(`+1${areaCode}`)) &&
      number.includes(contains),
  );
  const available_phone_numbers = free
    .slice(0, Number(query.get('PageSize') ?? 20))
    .map((number) => ({
      phone_number: number,
      friendly_name: number,
      capabilities: { voice: true },
    }));
  return { status: 200, body: { available_phone_numbers } };
}

/** Numbers of the trunk are not bought: the server is told that they are, and has them in its books. */
function numbers(method, id, form, query) {
  if (method === 'DELETE') return sold.delete(id) ? { status: 204 } : notFound;
  if (method === 'GET') {
    const name = query.get('FriendlyName');
    const incoming_phone_numbers = [...sold.values()].filter(
      ({ friendly_name }) => friendly_name === name,
    );
    return { status: 200, body: { incoming_phone_numbers } };
  }
  const number = form.get('PhoneNumber') ?? '';
  const sid = `PN${number.slice(1).padStart(32, '0')}`;
  if (!NUMBERS.includes(number) || sold.has(sid))
    return refused(400, 21_422, 'PhoneNumber is not available');
  sold.set(sid, { sid, phone_number: number, friendly_name: form.get('FriendlyName') ?? '' });
  return { status: 201, body: sold.get(sid) };
}

/** Has Asterisk call a number over the trunk; once it is answered, its channel comes to the bridge. */
async function dial(form) {
  const [from, to] = ['From', 'To'].map((name) => form.get(name) ?? '');
  if (!/^\+\d{7,15}$/.test(to) || !NUMBERS.includes(from))
    return refused(400, 21_211, 'Invalid From or To');
  const ringSeconds = Number(form.get('Timeout') ?? 60);
  const call = newCall({
    from,
    to,
    voiceUrl: form.get('Url'),
    statusUrl: form.get('StatusCallback'),
    isOurs: true,
    ringsUntil: Date.now() + ringSeconds * 1_000,
    longestMs: Number(form.get('TimeLimit') ?? 14_400) * 1_000,
    machineUrl: form.get('AsyncAmdStatusCallback'),
    awaitsEnd: form.get('MachineDetection') === 'DetectMessageEnd',
  });
  try {
    const query = {
      endpoint: `PJSIP/${to}@${TRUNK}`,
      app: APP,
      appArgs: `out,${call.sid}`,
      callerId: from,
      timeout: String(ringSeconds),
      channelId: call.sid,
    };
    await ari('POST', '/channels', { query });
  } catch (error) {
    calls.delete(call.sid);
    return refused(503, 20_503, error.message);
  }
  return { status: 201, body: callBody(call) };
}

function update(call, form) {
  if (call.isOver) return refused(400, 21_220, 'Call is not in-progress');
  const twiml = form.get('Twiml');
  if (twiml === null) void end(call, call.answeredAt === undefined ? 'canceled' : 'completed');
  else {
    if (call.answeredAt === undefined) return refused(400, 21_220, 'Call is not in-progress');
    leaveStream(call);
    follow(call, twiml).catch((error) => {
      console.error(`${call.sid}: ${error.message}`);
      void end(call, 'completed');
    });
  }
  return { status: 200, body: callBody(call) };
}

/** The recording of a live call: it begins, pauses, goes on and stops. */
function record(call, method, current, form) {
  const notRecorded = refused(400, 21_220, 'Requested resource is not eligible for recording');
  if (call.isOver || call.answeredAt === undefined) return notRecorded;
  if (current === undefined) {
    if (method !== 'POST' || call.recording !== undefined) return notRecorded;
    call.recording = new Recording(call.sid, form.get('RecordingStatusCallback'));
    return { status: 201, body: { sid: call.recording.sid, call_sid: call.sid } };
  }
  if (call.recording === undefined) return notFound;
  const { sid } = call.recording;
  const status = form.get('Status');
  if (status === 'stopped') stopRecording(call);
  else call.recording.isPaused = status === 'paused';
  return { status: 200, body: { sid, call_sid: call.sid, status } };
}

/** Recordings that are whole. */
function recordings(method, id, path, query) {
  if (method === 'DELETE') return deleteRecording(id) ? { status: 204 } : notFound;
  if (id !== undefined && path.endsWith('.wav')) {
    const file = recordingFile(id);
    return file === undefined ? notFound : { status: 200, file };
  }
  const callSid = query.get('CallSid') ?? '';
  const live = calls.get(callSid)?.recording;
  const found = live
    ? { sid: live.sid, call_sid: callSid, status: 'processing', duration: null }
    : recordingOf(callSid);
  return { status: 200, body: { recordings: found === undefined ? [] : [found] } };
}

/** A trunk has no price for a call. */
const callBody = ({ durationSeconds, from, sid, status, to }) => ({
  ...{ sid, from, to, status, price: null, price_unit: 'USD' },
  duration: durationSeconds === undefined ? null : String(durationSeconds),
});
