import type { SoundFormat } from '../../../media/coding.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { SessionConfig } from '../../voice/session/session-config.ts';
import { type SpeechDeltas, SpeechEncoder } from '../../voice/session/speech-encoder.ts';
import type { VoicePipeline } from '../../voice/session/voice-pipeline.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { CallLine } from '../voice/line/call-line.ts';
import { TRANSCRIBER_LOST } from '../voice/lost-words.ts';
import { LAST_WORDS } from './call-pipeline.ts';
import { reasonOf } from './end-reason.ts';

const LONGEST_MS = 5_000;
const ITEM = 'last_words';

/** Endings after which the server says `LAST_WORDS` to the caller before it hangs up. */
const ANNOUNCED: ReadonlySet<string> = new Set([
  'budget_exhausted',
  'max_duration',
  'inactivity',
  TRANSCRIBER_LOST,
]);

type LastWordsParts = {
  readonly call: {
    readonly config: SessionConfig;
    readonly line: Pick<CallLine, 'afterPlayed' | 'isAttached' | 'play'>;
    /** Stops the sound in progress, and keeps the part that the peer heard. */
    cutShort(): void;
  };
  readonly clock: Clock;
  readonly format: SoundFormat;
  readonly pipeline: Pick<VoicePipeline, 'voice'>;
};

/**
 * Runs `over` once the peer has heard the sound in progress to its end; at once when the agent was suspended. An announced
 * ending plays `LAST_WORDS` in place of that sound, and reports their characters to `spoke` at the first sound.
 */
export function playOut(
  parts: LastWordsParts & {
    readonly log: Log;
    readonly spoke: (characters: number) => void;
  },
  reason: string,
  over: () => void,
): void {
  const { call, log, spoke } = parts;
  const { line } = call;
  // A suspended agent is silenced at once.
  if (!line.isAttached || reasonOf(reason, false) === 'suspended') {
    call.cutShort();
    over();
    return;
  }
  const whenPlayed = () => line.afterPlayed(over, PHONE_LIMITS.call.lastWordsMs);
  if (!ANNOUNCED.has(reason)) {
    whenPlayed();
    return;
  }
  call.cutShort();
  sayLastWords(parts, () => spoke(LAST_WORDS.length))
    .catch((err: unknown) => log.warn({ err }, 'the last words of a call were not said'))
    .finally(whenPlayed);
}

/** Says the last words to the caller, after the voice session has ended. */
async function sayLastWords(
  { call, clock, format, pipeline }: LastWordsParts,
  begun: () => void,
): Promise<void> {
  const { config, line } = call;
  const encoder = new SpeechEncoder(format);
  const stopped = new AbortController();
  const { signal } = stopped;
  const timer = clock.setTimeout(() => stopped.abort(), LONGEST_MS);
  const { speed, voice } = config;
  let isBegun = false;
  try {
    const speech = pipeline.voice.speak({ text: LAST_WORDS, voice, speed, signal });
    for await (const { pcm, sampleRateHz } of speech) {
      if (signal.aborted || !line.isAttached) return;
      if (!isBegun) begun();
      isBegun = true;
      playAll(line, encoder.piece(pcm, sampleRateHz));
    }
    playAll(line, encoder.end());
  } finally {
    clock.clearTimeout(timer);
  }
}

function playAll(line: Pick<CallLine, 'play'>, deltas: SpeechDeltas): void {
  while (!deltas.isOver) {
    const delta = deltas.next();
    if (delta.length > 0) line.play(ITEM, delta);
  }
}
