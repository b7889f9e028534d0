import type { TurnCause } from '../../../machines/voice-turn.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { TurnCap } from '../billing/turn-meter.ts';
import type { TurnTrace } from '../live/turn-trace.ts';
import type { Answer } from './answer.ts';
import type { ConversationItem } from './conversation.ts';
import type { SessionConfig } from './session-config.ts';
import type { VoiceClient } from './voice-client.ts';
import type { Llm, Tts } from './voice-pipeline.ts';

/** Usage and durations of a turn that has ended. */
export type TurnOutcome = {
  readonly cause: TurnCause | undefined;
  readonly textIn: number;
  /** The part of `textIn` that the upstream read from its cache. */
  readonly cachedIn: number;
  readonly textOut: number;
  readonly spokenMs: number;
  /** Characters that `takeSpokenChars` has not returned during the turn. */
  readonly spokenChars: number;
  /** Milliseconds from the start of the turn until the reply is known, and until the first audio is sent. */
  readonly replyMs: number | undefined;
  readonly firstAudioMs: number | undefined;
  /** Milliseconds of sent audio that a client has yet to play in real time; 0 when the turn ended early. */
  readonly unplayedMs: number;
};

export type VoiceTurnOptions = {
  readonly llm: Llm;
  readonly voice: Tts;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: SessionConfig;
  /** True when the answer prompts a caller who did not respond to the last answer. */
  readonly isPrompt: boolean;
  readonly cap: TurnCap;
  readonly answer: Answer;
  /** Undefined when the turn is not traced. */
  readonly trace?: TurnTrace | undefined;
  readonly client: Pick<VoiceClient, 'batch' | 'hasRoom' | 'room'>;
  /** Resolves to the conversation for the LLM, once all speech before the turn is transcribed. */
  readonly items: () => Promise<readonly ConversationItem[]>;
  /** Called exactly once, when every part of the answer except `done` was sent. */
  readonly finished: (outcome: TurnOutcome) => void;
};
