import { encodeMulaw } from '../media/mulaw.ts';
import { Resampler } from '../media/resample.ts';
import { loadRecording } from '../test/support/speech.ts';

export const FRAME_MS = 20;
/** Of each caller's five seconds two are speech. */
export const SPEECH_FRAMES = 100;
export const CYCLE_FRAMES = 250;
/** Where the recording is well into its sentence. */
const SPEECH_FROM = 16_000;
/** A line without speech is not quite still. */
const HISS = 12;
const SAMPLES = FRAME_MS * 8;

/** What a caller's line carries in five seconds: two of recorded speech and three of hiss, a frame of mu-law in base64 each. */
export function callersSound(): string[] {
  const speech = loadRecording('librivox-0920.wav').subarray(SPEECH_FROM);
  const narrow = new Int16Array(speech.length);
  new Resampler(16_000, 8_000).push(speech, narrow);
  return Array.from({ length: CYCLE_FRAMES }, (_, frame) => {
    const pcm =
      frame < SPEECH_FRAMES
        ? narrow.subarray(frame * SAMPLES, (frame + 1) * SAMPLES)
        : Int16Array.from({ length: SAMPLES }, () => Math.round((Math.random() - 0.5) * HISS));
    const codes = new Uint8Array(SAMPLES);
    encodeMulaw(pcm, codes);
    return Buffer.from(codes).toString('base64');
  });
}
