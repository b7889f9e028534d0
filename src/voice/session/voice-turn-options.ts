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

/** What a turn has bought and how long it took, told when it ends. */
export type TurnOutcome = {
  readonly cause: TurnCause | undefined;
  readonly textIn: number;
  /** The part of `textIn` that the upstream had cached. */
  readonly cachedIn: number;
  readonly textOut: number;
  readonly spokenMs: number;
  /** Those that were not taken while it was spoken. */
  readonly spokenChars: number;
  /** Milliseconds from the turn's start: until the reply is known, and until the first audio is sent. */
  readonly replyMs: number | undefined;
  readonly firstAudioMs: number | undefined;
  /** How long a client that plays in real time still has audio; 0 where the turn ended early. */
  readonly unplayedMs: number;
};

export type VoiceTurnOptions = {
  readonly llm: Llm;
  readonly voice: Tts;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: SessionConfig;
  /** The caller did not respond to the last answer. */
  readonly isPrompt: boolean;
  readonly cap: TurnCap;
  readonly answer: Answer;
  /** Undefined: it is not traced. */
  readonly trace?: TurnTrace | undefined;
  readonly client: Pick<VoiceClient, 'batch' | 'hasRoom' | 'room'>;
  /** Resolves to what the LLM reads, once all speech before the turn is transcribed. */
  readonly items: () => Promise<readonly ConversationItem[]>;
  /** Called exactly once, when the answer is closed but for its `done`. */
  readonly finished: (outcome: TurnOutcome) => void;
};
