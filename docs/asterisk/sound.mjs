import { WebSocket } from 'ws';
import { ACCOUNT, post } from './settings.mjs';

const FRAME_BYTES = 160;
const FRAME_MS = 20;
/** Asterisk closes a socket on which a longer message comes. */
const MESSAGE_BYTES = 400 * FRAME_BYTES;
const MOST_MARKS = 1_000;
/** Sound that waits to be played, as far as a recording follows it. */
const MOST_FRAMES = 3_000;
const SILENCE = Buffer.alloc(FRAME_BYTES, 0xff);

const isLive = (call) => call.asterisk?.readyState === WebSocket.OPEN;

export const command = (call, name, more = {}) => {
  if (isLive(call)) call.asterisk.send(JSON.stringify({ command: name, ...more }));
};

export const tell = (call, message) => {
  if (call.server?.readyState === WebSocket.OPEN) {
    call.server.send(JSON.stringify({ ...message, streamSid: call.streamSid }));
  }
};

/** A message of the server's media stream. */
export function fromServer(call, message) {
  if (message.event === 'media') play(call, Buffer.from(message.media.payload, 'base64'));
  if (message.event === 'mark' && call.marks.size < MOST_MARKS) {
    const id = String(++call.markIds);
    call.marks.set(id, message.mark.name);
    command(call, 'MARK_MEDIA', { correlation_id: id });
  }
  if (message.event === 'clear') silence(call);
}

/** Stops what is being played. Asterisk forgets the marks that it flushes, and Twilio echoes them. */
export function silence(call) {
  clearTimeout(call.leftoverTimer);
  call.leftover = undefined;
  call.playedUntilMs = 0;
  call.queue = [];
  command(call, 'FLUSH_MEDIA');
  for (const id of [...call.marks.keys()]) passed(call, id);
}

export function passed(call, id) {
  const name = call.marks.get(id);
  if (name === undefined) return;
  call.marks.delete(id);
  tell(call, { event: 'mark', mark: { name } });
}

/**
 * Sends whole frames: Asterisk drops what fills none. The rest waits for more, and is filled up with silence only when
 * everything before it is about to have been played.
 */
function play(call, bytes) {
  clearTimeout(call.leftoverTimer);
  const sound = call.leftover === undefined ? bytes : Buffer.concat([call.leftover, bytes]);
  const whole = sound.length - (sound.length % FRAME_BYTES);
  for (let at = 0; at < whole && isLive(call); at += MESSAGE_BYTES) {
    call.asterisk.send(sound.subarray(at, Math.min(at + MESSAGE_BYTES, whole)));
  }
  const nowMs = performance.now();
  call.playedUntilMs = Math.max(nowMs, call.playedUntilMs) + (whole / FRAME_BYTES) * FRAME_MS;
  for (let at = 0; at < whole && call.queue.length < MOST_FRAMES; at += FRAME_BYTES) {
    call.queue.push(sound.subarray(at, at + FRAME_BYTES));
  }
  call.leftover = whole === sound.length ? undefined : sound.subarray(whole);
  if (call.leftover === undefined) return;
  const fill = () => play(call, SILENCE.subarray(call.leftover.length));
  const leftMs = call.playedUntilMs - nowMs - FRAME_MS;
  call.leftoverTimer = setTimeout(() => call.leftover && fill(), Math.max(FRAME_MS, leftMs));
}

/** A frame of the far side. */
export function heard(call, bytes) {
  call.heardAtMs = performance.now();
  const said = call.queue.shift();
  call.recording?.frame(bytes, said);
  const timestamp = String(call.frames++ * FRAME_MS);
  const media = { track: 'inbound', timestamp, payload: bytes.toString('base64') };
  tell(call, { event: 'media', media });
  const answeredBy = call.machine?.heard(bytes);
  if (answeredBy === undefined) return;
  call.machine = undefined;
  post(call.machineUrl, { CallSid: call.sid, AccountSid: ACCOUNT, AnsweredBy: answeredBy }).catch(
    (error) => console.error(`${call.sid}: who answered was not reported: ${error.message}`),
  );
}

/** While the far side holds the line no sound comes of it: the server gets silence, so that the line is not taken for dead. */
export function hold(call) {
  call.holdTimer ??= setInterval(() => {
    if (performance.now() - call.heardAtMs >= FRAME_MS / 2) heard(call, SILENCE);
  }, FRAME_MS);
}

export function unhold(call) {
  clearInterval(call.holdTimer);
  call.holdTimer = undefined;
}
