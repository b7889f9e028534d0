import { lineHzOf } from '../../../media/hearing.ts';
import type { RecentSound } from '../../../media/recent-sound.ts';
import type { VadEvent } from '../../../media/vad.ts';
import { VoiceDetector } from '../../engines/vad/vad-detector.ts';
import type { TranscriberOptions } from './transcriber-options.ts';

type DetectorParts = {
  readonly sound: RecentSound;
  /** Whether the words so far end in the middle of a sentence, so that the caller gets a longer pause. */
  readonly isUnfinished: () => boolean;
  readonly onEvent: (event: VadEvent) => void;
};

/** The voice detector of a stream, set as its client has chosen. */
export function openDetector(
  { gates, sampleRateHz, vad }: TranscriberOptions,
  endpointing: NonNullable<TranscriberOptions['endpointing']>,
  { isUnfinished, onEvent, sound }: DetectorParts,
): VoiceDetector {
  const { threshold, prefixPaddingMs, speculateAfterMs } = endpointing;
  const { silenceDurationMs: enoughMs, unfinishedSilenceMs = enoughMs } = endpointing;
  const silenceDurationMs = () => (isUnfinished() ? unfinishedSilenceMs : enoughMs);
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
