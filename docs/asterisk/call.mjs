import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { ACCOUNT, ari, first, hook, post, reach, sign } from './settings.mjs';

const FRAME_BYTES = 160;
const FRAME_MS = 20;
/** Sound that fills no frame waits so long for more; then silence fills it up. */
const LEFTOVER_MS = 40;
/** Asterisk closes a socket on which a longer message comes. */
const MESSAGE_BYTES = 400 * FRAME_BYTES;
const MOST_MARKS = 1_000;
/** Streams that end at once, one after another, before the call is given up. */
const MOST_FAILURES = 5;
const KEPT_CALLS = 1_000;

/** By their ids, those that are over among them. */
export const calls = new Map();

export function newCall(fields) {
  const sid = `CA${randomBytes(16).toString('hex')}`;
  const call = {
    sid,
    status: 'queued',
    sequence: 0,
    failures: 0,
    marks: new Map(),
    markIds: 0,
    ...fields,
  };
  calls.set(sid, call);
  if (calls.size > KEPT_CALLS) {
    for (const [key, { isOver }] of calls) if (isOver) calls.delete(key);
  }
  return call;
}

const isLive = (call) => call.asterisk?.readyState === WebSocket.OPEN;
const command = (call, name, more = {}) => {
  if (isLive(call)) call.asterisk.send(JSON.stringify({ command: name, ...more }));
};
const tell = (call, message) => {
  if (call.server?.readyState === WebSocket.OPEN) {
    call.server.send(JSON.stringify({ ...message, streamSid: call.streamSid }));
  }
};

export async function report(call, status) {
  call.status = status;
  const { durationSeconds, from, sid, statusUrl, to } = call;
  await post(statusUrl, {
    ...{ CallSid: sid, AccountSid: ACCOUNT, From: from, To: to, CallStatus: status },
    SequenceNumber: String(call.sequence++),
    ...(durationSeconds !== undefined && { CallDuration: String(durationSeconds) }),
  }).catch((error) => console.error(`${sid}: ${status} was not reported: ${error.message}`));
}

export async function end(call, status) {
  if (call.isOver) return;
  call.isOver = true;
  clearTimeout(call.leftoverTimer);
  const { answeredAt } = call;
  if (answeredAt !== undefined) call.durationSeconds = Math.ceil((Date.now() - answeredAt) / 1_000);
  command(call, 'HANGUP');
  tell(call, { event: 'stop', stop: { accountSid: ACCOUNT, callSid: call.sid } });
  call.server?.close();
  if (!isLive(call) && call.isOurs) await ari('DELETE', `/channels/${call.sid}`).catch(() => {});
  await report(call, status);
}

/** Asks the server what to do with a call, and does it: a media stream, or the end. */
async function obey(call, url) {
  const { from, sid, to } = call;
  const direction = call.isOurs ? 'outbound-api' : 'inbound';
  const status = call.answeredAt === undefined ? 'ringing' : 'in-progress';
  const twiml = await post(url, {
    ...{
      CallSid: sid,
      AccountSid: ACCOUNT,
      From: from,
      To: to,
      CallStatus: status,
      Direction: direction,
    },
  });
  if (call.isOver) return;
  const stream = first(/<Stream [^>]*?url="([^"]+)"/, twiml);
  if (stream === undefined) return end(call, call.answeredAt === undefined ? 'busy' : 'completed');
  if (call.answeredAt === undefined) {
    call.answeredAt = Date.now();
    command(call, 'ANSWER');
  }
  const again = first(/<Redirect[^>]*>([^<]+)</, twiml);
  const parameter = first(/<Parameter name="call" value="([^"]+)"/, twiml);
  openStream(call, stream, { again, parameter });
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
  server.on('message', (data) => fromServer(call, JSON.parse(data)));
  server.on('error', (error) => console.error(`${call.sid}: ${error.message}`));
  server.on('close', () => {
    if (call.isOver) return;
    call.failures = call.frames > 50 ? 1 : call.failures + 1;
    if (again === undefined || call.failures > MOST_FAILURES) void end(call, 'completed');
    else obey(call, again).catch(() => end(call, 'completed'));
  });
}

function fromServer(call, message) {
  if (message.event === 'media') play(call, Buffer.from(message.media.payload, 'base64'));
  if (message.event === 'mark' && call.marks.size < MOST_MARKS) {
    const id = String(++call.markIds);
    call.marks.set(id, message.mark.name);
    command(call, 'MARK_MEDIA', { correlation_id: id });
  }
  if (message.event === 'clear') {
    call.leftover = undefined;
    command(call, 'FLUSH_MEDIA');
    // Asterisk forgets the marks that it flushes, and Twilio echoes them.
    for (const id of [...call.marks.keys()]) passed(call, id);
  }
}

function passed(call, id) {
  const name = call.marks.get(id);
  if (name === undefined) return;
  call.marks.delete(id);
  tell(call, { event: 'mark', mark: { name } });
}

/** Asterisk drops what fills no frame, so that only whole frames go out. */
function play(call, bytes) {
  clearTimeout(call.leftoverTimer);
  const sound = call.leftover === undefined ? bytes : Buffer.concat([call.leftover, bytes]);
  const whole = sound.length - (sound.length % FRAME_BYTES);
  for (let at = 0; at < whole && isLive(call); at += MESSAGE_BYTES) {
    call.asterisk.send(sound.subarray(at, Math.min(at + MESSAGE_BYTES, whole)));
  }
  call.leftover = whole === sound.length ? undefined : sound.subarray(whole);
  if (call.leftover === undefined) return;
  const fill = () => play(call, Buffer.alloc(FRAME_BYTES - call.leftover.length, 0xff));
  call.leftoverTimer = setTimeout(() => call.leftover && fill(), LEFTOVER_MS);
}

function fromAsterisk(call, event) {
  if (event.event === 'MEDIA_MARK_PROCESSED') passed(call, event.correlation_id);
  if (event.event === 'DTMF_END')
    tell(call, { event: 'dtmf', dtmf: { track: 'inbound_track', digit: event.digit } });
  if (event.event === 'ERROR') console.error(`${call.sid}: Asterisk says ${event.error_text}`);
  if (event.event !== 'MEDIA_START' || call.hasStarted) return;
  call.hasStarted = true;
  if (event.format !== 'ulaw') return end(call, 'failed');
  if (call.isOurs) {
    call.answeredAt = Date.now();
    void report(call, 'in-progress');
  }
  return obey(call, call.voiceUrl);
}

function heard(call, bytes) {
  const timestamp = String(call.frames++ * FRAME_MS);
  tell(call, {
    event: 'media',
    media: { track: 'inbound', timestamp, payload: bytes.toString('base64') },
  });
}

/** One socket for each call: `?from=…&to=…` of a caller, `?call=…` of a call that was placed here. */
export function takeAsterisk(socket, request) {
  const { searchParams } = new URL(request.url, 'http://bridge');
  const [from, to] = ['from', 'to'].map((name) => searchParams.get(name) ?? '');
  const inbound = { from, to, voiceUrl: hook('voice'), statusUrl: hook('status') };
  const call = calls.get(searchParams.get('call')) ?? newCall(inbound);
  if (call.isOver || call.asterisk !== undefined) return socket.close();
  call.asterisk = socket;
  const understand = async (text) => fromAsterisk(call, JSON.parse(text));
  socket.on('message', (data, isBinary) => {
    if (isBinary) return heard(call, data);
    understand(data).catch((error) => {
      // Without f(json) in the dial string Asterisk's words are no JSON.
      console.error(`${call.sid}: ${error.message}`);
      void end(call, 'failed');
    });
  });
  socket.on('error', (error) => console.error(`${call.sid}: ${error.message}`));
  socket.on(
    'close',
    () => void end(call, call.answeredAt === undefined ? 'canceled' : 'completed'),
  );
}
