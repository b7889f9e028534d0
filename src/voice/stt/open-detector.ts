import { HEARING_FRAME, HEARING_HZ, lineHzOf } from '../../../media/hearing.ts';
import type { RecentSound } from '../../../media/recent-sound.ts';
import type { VadEvent } from '../../../media/vad.ts';
import { VoiceDetector } from '../../engines/vad/vad-detector.ts';
import type { TranscriberOptions } from './transcriber-options.ts';

export const FRAME_MS = (HEARING_FRAME / HEARING_HZ) * 1_000;
/** Milliseconds by which the detector may report the start of speech late, beyond its padding. Older audio is dropped. */
const ONSET_MS = 320;

/** Returns the maximum number of frames before the reported start of speech that an utterance may include. */
export const mostLeadOf = (endpointing: TranscriberOptions['endpointing']): number =>
  endpointing === null ? 0 : Math.ceil((endpointing.prefixPaddingMs + ONSET_MS) / FRAME_MS);

type DetectorParts = {
  readonly sound: RecentSound;
  /** Silence that ends the utterance, by its words so far. */
  readonly silenceDurationMs: () => number;
  readonly onEvent: (event: VadEvent) => void;
};

/** Returns the voice detector of a stream with its client's settings; undefined when the client ends utterances itself. */
export function openDetector(
  { endpointing, gates, sampleRateHz, vad }: TranscriberOptions,
  { onEvent, silenceDurationMs, sound }: DetectorParts,
): VoiceDetector | undefined {
  if (endpointing === null) return undefined;
  const { threshold, prefixPaddingMs, speculateAfterMs } = endpointing;
  return new VoiceDetector({
    sound,
    ...(gates && { gate: gates.open(lineHzOf(sampleRateHz)) }),
    engine: vad,
    options: {
      threshold,
      prefixPaddingMs,
      silenceDurationMs,
      ...(speculateAfterMs !== undefined && { pauseMs: speculateAfterMs }),
    },
    onEvent,
  });
}
