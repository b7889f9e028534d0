import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from './settings.mjs';

const FOLDER = env('RECORDINGS', join(tmpdir(), 'bridge-recordings'));
const HEAD_BYTES = 44;
const RATE = 8_000;
const FRAME_SAMPLES = 160;
/** Both channels of a second, as 16-bit samples. */
const SECOND_BYTES = RATE * 4;
const SILENCE = Buffer.alloc(FRAME_SAMPLES, 0xff);

const DECODED = Int16Array.from({ length: 256 }, (_, code) => {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits >> 4) & 0x07)) - 0x84;
  return bits & 0x80 ? -magnitude : magnitude;
});

/** What is said in a call from now on: a WAV file in two channels, the far side first. */
export class Recording {
  sid = `RE${randomBytes(16).toString('hex')}`;
  isPaused = false;
  #path;
  #file;
  #bytes = 0;

  constructor(callSid, callbackUrl) {
    this.callSid = callSid;
    this.callbackUrl = callbackUrl;
    mkdirSync(FOLDER, { recursive: true });
    this.#path = join(FOLDER, `${callSid}.${this.sid}.wav`);
    this.#file = openSync(`${this.#path}.part`, 'w');
    writeSync(this.#file, headOf(0));
  }

  get seconds() {
    return Math.round(this.#bytes / SECOND_BYTES);
  }

  /** A frame of each side; while it pauses both are silent. */
  frame(heard, said = SILENCE) {
    const pcm = Buffer.alloc(FRAME_SAMPLES * 4);
    if (!this.isPaused) {
      for (let i = 0; i < FRAME_SAMPLES; i++) {
        pcm.writeInt16LE(DECODED[heard[i] ?? 0xff], i * 4);
        pcm.writeInt16LE(DECODED[said[i] ?? 0xff], i * 4 + 2);
      }
    }
    this.#bytes += writeSync(this.#file, pcm);
  }

  /** Writes the length, after which the file can be fetched. */
  finish() {
    writeSync(this.#file, headOf(this.#bytes), 0, HEAD_BYTES, 0);
    closeSync(this.#file);
    renameSync(`${this.#path}.part`, this.#path);
  }
}

function headOf(bytes) {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('RIFF', 0);
  head.writeUInt32LE(bytes + HEAD_BYTES - 8, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(2, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(SECOND_BYTES, 28);
  head.writeUInt16LE(4, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(bytes, 40);
  return head;
}

const files = () => {
  try {
    return readdirSync(FOLDER).filter((name) => name.endsWith('.wav'));
  } catch {
    return [];
  }
};
const found = (part) => files().find((name) => name.split('.').includes(part));

/** The whole recording of a call, as Twilio lists it. Undefined: there is none. */
export function recordingOf(callSid) {
  const name = found(callSid);
  if (name === undefined) return undefined;
  const seconds = Math.round((statSync(join(FOLDER, name)).size - HEAD_BYTES) / SECOND_BYTES);
  return {
    sid: name.split('.')[1],
    call_sid: callSid,
    status: 'completed',
    duration: `${seconds}`,
  };
}

/** The file of a whole recording. Undefined: there is none. */
export const recordingFile = (sid) => {
  const name = found(sid);
  return name && join(FOLDER, name);
};

export function deleteRecording(sid) {
  const path = recordingFile(sid);
  if (path !== undefined) unlinkSync(path);
  return path !== undefined;
}
