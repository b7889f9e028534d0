import type { SttEngine, VadEngine } from '../../engines/engine.ts';
import type { SpeechGates } from '../../engines/vad/fvad-gate.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import type { SessionTally } from '../live/session-tally.ts';
import type { Heard } from '../stt/transcriber-events.ts';
import type { Conversation } from './conversation.ts';
import type { SessionConfig } from './session-config.ts';
import type { VoiceClient } from './voice-client.ts';

/** Dependencies of `Listening`: parts of its session, and callbacks for what it hears. */
export type ListeningDeps = {
  /** Returns the STT engine for the current settings. */
  readonly stt: () => SttEngine;
  readonly vad: VadEngine;
  readonly gates: SpeechGates | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly client: VoiceClient;
  readonly tally: Pick<SessionTally, 'arrived'>;
  readonly conversation: Conversation;
  readonly config: () => SessionConfig;
  /**
   * Returns the milliseconds of silence that end the turn after these words. Undefined when words do not change the silence.
   */
  readonly silenceAfter: (words: string) => number | undefined;
  /** Returns true when an utterance that is heard now belongs to the turn of the utterance before it. */
  readonly continuesTurn: () => boolean;
  /** Called when the caller begins to speak. */
  readonly speechStarted: () => void;
  /** Called when the end of an utterance is detected. `heard` follows with its words. */
  readonly utteranceEnded?: () => void;
  /**
   * Called when an utterance is in the conversation, with its words when any were transcribed. `wantsAnswer` is true when the
   * turn detection that ended it requests a response.
   */
  readonly heard: (heard: Heard, wantsAnswer: boolean) => void;
  /** Called when the utterance in progress was dropped. */
  readonly forgotten: () => void;
  /**
   * Called when the caller has likely finished with `text` and a response would follow. `resumed` is called when the caller
   * speaks on.
   */
  readonly paused: (text: string) => void;
  readonly resumed: () => void;
  /** Called when the caller stayed silent after the last answer for the client's `idleTimeoutMs`. */
  readonly timedOut: () => void;
};
