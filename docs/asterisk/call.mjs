import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { APP, ari } from './ari.mjs';
import { ACCOUNT, first, post, reach, retried, sign } from './settings.mjs';
import { command, fromServer, heard, passed, silence, tell, unhold } from './sound.mjs';

/** Streams that end at once, one after another, before the call is given up. */
const MOST_FAILURES = 5;
const KEPT_CALLS = 1_000;
/** Asterisk has so long to open the sound of a call. */
const SOUND_MS = 10_000;
/** Pauses between attempts to put a channel into a bridge. */
const JOIN_AGAIN_MS = [20, 50, 100, 500, 2_000];
const DIGIT_MS = { pressed: 100, between: 100 };
const PAUSE_MS = { w: 500, W: 1_000 };

const CAUSES = { busy: '17', rejected: '21', normal: '16' };

/** By their ids, those that are over among them. */
export const calls = new Map();

export function newCall(fields) {
  const sid = `CA${randomBytes(16).toString('hex')}`;
  const call = {
    sid,
    channel: sid,
    status: 'queued',
    sequence: 0,
    failures: 0,
    marks: new Map(),
    markIds: 0,
    queue: [],
    playedUntilMs: 0,
    heardAtMs: 0,
    reported: Promise.resolve(),
    ...fields,
  };
  calls.set(sid, call);
  if (calls.size > KEPT_CALLS) {
    for (const [key, { isOver }] of calls) if (isOver) calls.delete(key);
  }
  return call;
}

export const failing = (call) => (error) => {
  console.error(`${call.sid}: ${error.message}`);
  return end(call, call.answeredAt === undefined ? 'failed' : 'completed');
};

export function report(call, status, more = {}) {
  call.status = status;
  const { durationSeconds, from, sid, statusUrl, to } = call;
  const form = {
    CallSid: sid,
    AccountSid: ACCOUNT,
    From: from,
    To: to,
    CallStatus: status,
    SequenceNumber: String(call.sequence++),
    ...(durationSeconds !== undefined && { CallDuration: String(durationSeconds) }),
    ...more,
  };
  // One after another: a status that is tried again is not overtaken by the next.
  call.reported = call.reported.then(() =>
    retried(() => post(statusUrl, form)).catch((error) =>
      console.error(`${sid}: ${status} was not reported: ${error.message}`),
    ),
  );
  return call.reported;
}

/** Ends a call that is not over, at Asterisk and at the server. */
export async function end(call, status, { cause = 'normal', more } = {}) {
  if (call.isOver) return;
  call.isOver = true;
  for (const timer of [call.leftoverTimer, call.limitTimer]) clearTimeout(timer);
  unhold(call);
  stopRecording(call);
  const { answeredAt, channel, sid } = call;
  if (answeredAt !== undefined) call.durationSeconds = Math.ceil((Date.now() - answeredAt) / 1_000);
  command(call, 'HANGUP');
  tell(call, { event: 'stop', stop: { accountSid: ACCOUNT, callSid: sid } });
  call.server?.close();
  const gone = [
    ari('DELETE', `/channels/${channel}`, { query: { reason_code: CAUSES[cause] } }),
    ari('DELETE', `/bridges/${sid}`),
    call.media && ari('DELETE', `/channels/${call.media}`),
  ];
  await Promise.allSettled(gone);
  await report(call, status, more);
}

/** Asks the server what to do with a call, and does it. */
export async function obey(call, url, more = {}) {
  const { from, sid, to } = call;
  const twiml = await post(url, {
    CallSid: sid,
    AccountSid: ACCOUNT,
    From: from,
    To: to,
    CallStatus: call.answeredAt === undefined ? 'ringing' : 'in-progress',
    Direction: call.isOurs ? 'outbound-api' : 'inbound',
    ...more,
  });
  if (!call.isOver) await follow(call, twiml);
}

/** Does what instructions say: a media stream, digits, a transfer, or the end. */
export async function follow(call, twiml) {
  const again = first(/<Redirect[^>]*>([^<]+)</, twiml);
  const stream = first(/<Stream [^>]*?url="([^"]+)"/, twiml);
  const digits = first(/<Play [^>]*?digits="([^"]+)"/, twiml);
  const number = first(/<Number[^>]*>([^<]+)</, twiml);
  if (stream !== undefined) {
    await answer(call);
    if (call.isOver) return undefined;
    return openStream(call, stream, {
      again,
      parameter: first(/<Parameter name="call" value="([^"]+)"/, twiml),
    });
  }
  if (digits !== undefined) {
    await sendDigits(call, digits);
    return again === undefined ? end(call, 'completed') : obey(call, again);
  }
  if (number !== undefined) {
    const told = {
      action: first(/<Dial [^>]*?action="([^"]+)"/, twiml),
      answered: first(/<Number [^>]*?statusCallback="([^"]+)"/, twiml),
    };
    return refer(call, number, told);
  }
  const isBusy = /<Reject [^>]*?reason="busy"/.test(twiml);
  if (call.answeredAt !== undefined) return end(call, 'completed');
  return end(call, 'busy', { cause: isBusy ? 'busy' : 'rejected' });
}

/** Closes the stream, since other instructions come in its place. */
export function leaveStream(call) {
  silence(call);
  const { server } = call;
  call.server = undefined;
  server?.close();
}

/** Answers a call, and resolves once its sound goes both ways: what is played before that would be lost. */
async function answer(call) {
  if (call.answeredAt === undefined) {
    await ari('POST', `/channels/${call.channel}/answer`);
    call.answeredAt = Date.now();
  }
  if (call.media !== undefined) return;
  call.media = `${call.sid}-media`;
  const joined = new Promise((resolve) => {
    call.joined = resolve;
  });
  const opened = new Promise((resolve) => {
    call.opened = resolve;
  });
  await ari('POST', '/channels', {
    query: {
      endpoint: `WebSocket/bridge/c(ulaw)f(json)v(call=${call.sid})`,
      app: APP,
      appArgs: `media,${call.sid}`,
      channelId: call.media,
    },
  });
  const late = new Promise((_, reject) => {
    call.soundTimer = setTimeout(() => reject(new Error('Asterisk opened no sound')), SOUND_MS);
  });
  await Promise.race([Promise.all([joined, opened]), late]).finally(() =>
    clearTimeout(call.soundTimer),
  );
}

/**
 * Puts channels into the bridge of a call. Asterisk reports the begin of a channel a moment before it takes commands for it: until
 * then it answers 422.
 */
export function join(call, channels) {
  const query = { channel: channels.join() };
  return retried(() => ari('POST', `/bridges/${call.sid}/addChannel`, { query }), JOIN_AGAIN_MS);
}

function openStream(call, url, { again, parameter }) {
  const headers = { 'x-twilio-signature': sign(url) };
  const server = new WebSocket(reach(url), {
    headers,
    perMessageDeflate: false,
    handshakeTimeout: 10_000,
  });
  call.server = server;
  call.streamSid = `MZ${randomBytes(16).toString('hex')}`;
  call.frames = 0;
  server.on('open', () => {
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    const ids = { accountSid: ACCOUNT, streamSid: call.streamSid, callSid: call.sid };
    tell(call, { event: 'connected', protocol: 'Call', version: '1.0.0' });
    const customParameters = { call: parameter };
    tell(call, {
      event: 'start',
      start: { ...ids, tracks: ['inbound'], mediaFormat, customParameters },
    });
  });
  server.on('message', (data) => call.server === server && fromServer(call, JSON.parse(data)));
  server.on('error', (error) => console.error(`${call.sid}: ${error.message}`));
  server.on('close', () => {
    if (call.isOver || call.server !== server) return;
    call.failures = call.frames > 50 ? 1 : call.failures + 1;
    if (again === undefined || call.failures > MOST_FAILURES) void end(call, 'completed');
    else obey(call, again).catch(failing(call));
  });
}

/** Asterisk sends keys one after another; `w` and `W` are pauses. Resolves when all of them were sent. */
async function sendDigits(call, digits) {
  const { between, pressed } = DIGIT_MS;
  for (const part of digits.match(/[wW]|[^wW]+/g) ?? []) {
    const isPause = part in PAUSE_MS;
    if (!isPause) {
      const query = { dtmf: part, duration: String(pressed), between: String(between) };
      await ari('POST', `/channels/${call.channel}/dtmf`, { query });
    }
    const ms = isPause ? PAUSE_MS[part] : part.length * (pressed + between);
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (call.isOver) return;
  }
}

/** Has the far side call another number by a REFER. The dialplan sends it, and hands the call back where that fails. */
async function refer(call, number, told) {
  call.referring = told;
  const { channel } = call;
  for (const [variable, value] of Object.entries({ REFER_TO: number, BRIDGE_CALL: call.sid })) {
    await ari('POST', `/channels/${channel}/variable`, { query: { variable, value } });
  }
  await ari('POST', `/channels/${channel}/continue`, {
    query: { context: 'agent-refer', extension: 's', priority: '1' },
  });
}

/** The REFER is over. Where it was carried out, the provider connects the two and this line is not needed any more. */
export async function referred(call, status, sipCode) {
  const { action, answered } = call.referring ?? {};
  call.referring = undefined;
  if (status === 'SUCCESS') {
    await retried(() =>
      post(answered, { CallSid: call.sid, AccountSid: ACCOUNT, CallStatus: 'in-progress' }),
    );
    return end(call, 'completed');
  }
  const outcome = { 486: 'busy', 600: 'busy', 603: 'busy', 408: 'no-answer', 480: 'no-answer' };
  await join(call, [call.channel]);
  return obey(call, action, { DialCallStatus: outcome[sipCode] ?? 'failed' });
}

export function stopRecording(call) {
  const { recording } = call;
  call.recording = undefined;
  if (recording === undefined) return;
  recording.finish();
  const { callbackUrl, seconds, sid } = recording;
  const told = { AccountSid: ACCOUNT, CallSid: call.sid, RecordingSid: sid };
  const form = { ...told, RecordingStatus: 'completed', RecordingDuration: String(seconds) };
  retried(() => post(callbackUrl, form)).catch((error) =>
    console.error(`${call.sid}: its recording was not reported: ${error.message}`),
  );
}

/** The sound of a call, on a socket that Asterisk opens. */
export function takeAsterisk(socket, request) {
  const { searchParams } = new URL(request.url, 'http://bridge');
  const call = calls.get(searchParams.get('call'));
  const isAwaited = call?.opened !== undefined && !call.isOver && call.asterisk === undefined;
  if (!isAwaited) return socket.close();
  call.asterisk = socket;
  call.opened();
  call.heardAtMs = performance.now();
  socket.on('message', (data, isBinary) => {
    if (isBinary) return heard(call, data);
    try {
      understand(call, JSON.parse(data));
    } catch (error) {
      // Without f(json) in the dial string Asterisk's words are no JSON.
      void failing(call)(error);
    }
  });
  socket.on('error', (error) => console.error(`${call.sid}: ${error.message}`));
  socket.on('close', () => void end(call, 'completed'));
}

function understand(call, event) {
  if (event.event === 'MEDIA_START' && event.format !== 'ulaw') void end(call, 'failed');
  if (event.event === 'MEDIA_MARK_PROCESSED') passed(call, event.correlation_id);
  if (event.event === 'DTMF_END') {
    tell(call, { event: 'dtmf', dtmf: { track: 'inbound_track', digit: event.digit } });
  }
  if (event.event === 'ERROR') console.error(`${call.sid}: Asterisk says ${event.error_text}`);
}
