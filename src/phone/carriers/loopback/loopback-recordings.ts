import { wavHeader } from '../../../../media/wav.ts';
import { type Random, randomHex } from '../../../kernel/random.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { FoundRecording } from '../carrier.ts';

const RATE_HZ = 8_000;
const SILENCE = 0xff;

type LoopbackRecording = {
  readonly recordingId: string;
  readonly carrierCallId: string;
  /** Mu-law samples, alternately a byte of the caller or callee and a byte of the agent. */
  readonly frames: Uint8Array[];
  samples: number;
  isPaused: boolean;
};

/**
 * Recordings of the loopback carrier, in memory. Keeps the latest `PHONE_LIMITS.carrier.loopbackRecordings`, each up to
 * `PHONE_LIMITS.carrier.loopbackRecordingSeconds` long.
 */
export class LoopbackRecordings {
  readonly #random: Random;
  /** Recordings in progress, by the carrier's id of the call. */
  readonly #running = new Map<string, LoopbackRecording>();
  readonly #kept = new Map<string, LoopbackRecording>();

  constructor(random: Random) {
    this.#random = random;
  }

  start(carrierCallId: string): string {
    const known = this.#running.get(carrierCallId);
    if (known !== undefined) return known.recordingId;
    const recordingId = `LR${randomHex(this.#random, 16)}`;
    const recording = { recordingId, carrierCallId, frames: [], samples: 0, isPaused: false };
    this.#running.set(carrierCallId, recording);
    return recordingId;
  }

  pause(carrierCallId: string, isPaused: boolean): void {
    const recording = this.#running.get(carrierCallId);
    if (recording !== undefined) recording.isPaused = isPaused;
  }

  /** Adds a frame of both sides to a recording. `heard` is the agent's sound; undefined: silence. */
  frame(carrierCallId: string, said: Uint8Array, heard: Uint8Array | undefined): void {
    const recording = this.#running.get(carrierCallId);
    if (recording === undefined) return;
    if (recording.samples >= PHONE_LIMITS.carrier.loopbackRecordingSeconds * RATE_HZ) return;
    const both = new Uint8Array(said.length * 2).fill(SILENCE);
    if (!recording.isPaused) {
      for (let i = 0; i < said.length; i++) {
        both[2 * i] = said[i] ?? SILENCE;
        both[2 * i + 1] = heard?.[i] ?? SILENCE;
      }
    }
    recording.frames.push(both);
    recording.samples += said.length;
  }

  /** Ends the recording of a call. Returns undefined when the call has none. */
  finish(carrierCallId: string): { recordingId: string; durationSeconds: number } | undefined {
    const recording = this.#running.get(carrierCallId);
    if (recording === undefined) return undefined;
    this.#running.delete(carrierCallId);
    this.#kept.set(recording.recordingId, recording);
    const oldest = this.#kept.keys().next().value;
    if (this.#kept.size > PHONE_LIMITS.carrier.loopbackRecordings && oldest !== undefined) {
      this.#kept.delete(oldest);
    }
    return lengthOf(recording);
  }

  /** Returns the recording of a call, if it is still kept. */
  find(carrierCallId: string): FoundRecording {
    const running = this.#running.get(carrierCallId);
    if (running !== undefined) return { kind: 'unsure', recordingId: running.recordingId };
    const kept = [...this.#kept.values()].find((one) => one.carrierCallId === carrierCallId);
    return kept === undefined ? { kind: 'none' } : { kind: 'whole', ...lengthOf(kept) };
  }

  delete(recordingId: string): void {
    this.#kept.delete(recordingId);
  }

  /** Returns a finished recording in pieces. */
  wav(recordingId: string): AsyncIterable<Uint8Array> | undefined {
    const recording = this.#kept.get(recordingId);
    return recording && pieces(recording);
  }
}

const lengthOf = ({ recordingId, samples }: LoopbackRecording) => ({
  recordingId,
  durationSeconds: Math.round(samples / RATE_HZ),
});

async function* pieces({ frames, samples }: LoopbackRecording): AsyncGenerator<Uint8Array> {
  yield wavHeader({ coding: 'mulaw', sampleRateHz: RATE_HZ, dataBytes: samples * 2, channels: 2 });
  yield* frames;
}
