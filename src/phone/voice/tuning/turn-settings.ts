import type { TurnDetection } from '../../../voice/session/turn-detection.ts';
import { TURN_MODES, type TurnWaits } from '../../../voice/session/turns/end-of-turn.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { type BargeInRules, USUAL_RULES } from '../barge-in.ts';
import type { ConversationSettings } from '../conversation-settings.ts';
import type { NoiseSuppression } from '../noise/line-cleaner.ts';

/** Returns the turn detection of a call. Speech over an answer is decided by its words, in `BargeIn`. */
export function turnDetectionOf({
  idleSeconds,
  turnDetection,
}: ConversationSettings): TurnDetection {
  return {
    type: 'semantic_vad',
    eagerness: 'auto',
    waits: waitsOf(turnDetection),
    isEager: turnDetection?.mode === 'fast',
    createResponse: true,
    interruptResponse: false,
    idleTimeoutMs: idleTimeoutMs(idleSeconds),
  };
}

/** Returns the waits of a mode, overridden by the settings, and none longer than `maxSilenceMs`. */
function waitsOf(settings: ConversationSettings['turnDetection']): TurnWaits {
  const usual = TURN_MODES[settings?.mode ?? 'balanced'];
  const mostMs = settings?.maxSilenceMs ?? Number.POSITIVE_INFINITY;
  const within = (ms: number) => Math.min(ms, mostMs);
  const minSilenceMs = within(settings?.minSilenceMs ?? usual.minSilenceMs);
  return {
    minSilenceMs,
    maxSilenceMs: Math.max(minSilenceMs, settings?.maxSilenceMs ?? usual.maxSilenceMs),
    onNumberMs: within(settings?.onNumberMs ?? usual.onNumberMs),
    onNoPunctuationMs: within(settings?.onNoPunctuationMs ?? usual.onNoPunctuationMs),
  };
}

const idleTimeoutMs = (idleSeconds: number | undefined): number | null => {
  if (idleSeconds === undefined) return PHONE_LIMITS.call.promptAfterMs;
  return idleSeconds === 0 ? null : idleSeconds * 1_000;
};

/** Returns the rules by which the caller's speech interrupts an answer of a call. */
export const bargeInRules = (
  settings: ConversationSettings['interruption'] = {},
): BargeInRules => ({
  isOn: settings.enabled ?? USUAL_RULES.isOn,
  minMs: settings.minMs ?? USUAL_RULES.minMs,
  minWords: settings.minWords ?? USUAL_RULES.minWords,
  ignoreWords: new Set(settings.ignoreWords?.map((word) => word.toLowerCase())),
});

/** When the noise of a call's line is suppressed: by default once it is as loud as speech. */
export function noiseSuppressionOf(settings: ConversationSettings | undefined): NoiseSuppression {
  const { noiseSuppression = 'auto' } = settings ?? {};
  return noiseSuppression === 'auto' ? 'auto' : noiseSuppression === 'on';
}
