import type { Ending } from '../../../machines/transcription-stream.ts';
import type { SoundFormat } from '../../../media/coding.ts';
import type { VoiceSessionInput } from '../../voice/session/voice-session-input.ts';
import type { MediaCodec } from '../carriers/carrier.ts';
import type { CallTurn } from '../records/said-turn.ts';
import type { TurnRecordDeps } from '../records/turn-record.ts';
import type { CallAction } from '../voice/call-actions.ts';
import type { ActionItem } from '../voice/call-client.ts';
import type { ConversationSettings } from '../voice/conversation-settings.ts';
import type { NoiseSuppression } from '../voice/noise/line-cleaner.ts';

/** An action that is carried out during the conversation, unlike `end_call`. */
export type ActionOfCall = Exclude<CallAction, { name: 'end_call' }>;

/** Callbacks for speech, interruptions and actions of a live call. */
export type LiveCallEvents = Pick<TurnRecordDeps, 'said' | 'heard' | 'interrupted'> & {
  readonly act: (action: ActionOfCall) => void;
  /** Receives words of the present turn: all words of the peer by now, or the next words of the agent. */
  readonly words?: (role: CallTurn['role'], text: string) => void;
  readonly digit: (digit: string) => void;
  /** The model calls a function that is no action of the call. */
  readonly callTool?: (item: ActionItem) => void;
  /** Runs when the peer has said something. */
  readonly callerSpoke?: () => void;
  /** Receives handoff data from a responder that ends the call. */
  readonly handOff?: (data: string) => void;
  /** Runs after an answer that the peer did not interrupt. */
  readonly answered?: () => void;
  /** Receives digits that the responder asked the caller for. */
  readonly entered?: (digits: string) => void;
  /** Runs when the peer has heard the notice, or will not hear it. */
  readonly announced?: () => void;
  readonly notAnnounced?: () => void;
  readonly detached: () => void;
  readonly attached: () => void;
  /** Called when the peer has heard the last words, so that the carrier may hang up. */
  readonly over: (ending: Ending) => void;
};

export type LiveCallOptions = {
  readonly input: VoiceSessionInput;
  readonly codec: MediaCodec;
  readonly format: SoundFormat;
  /** Turns that were said before this process had the call. */
  readonly history: readonly CallTurn[];
  /** System messages that were added before this process had the call. */
  readonly injected?: readonly string[];
  readonly beginMessage: string | undefined;
  /** Notice of the recording, heard before the greeting. Undefined: nothing is recorded, or the notice was given before. */
  readonly notice?: string | undefined;
  /** True when the responder receives each key as it is pressed, and answers it by itself. */
  readonly hearsKeys?: boolean;
  /** Rules by which the caller's speech interrupts an answer. Absent: the defaults. */
  readonly interruption?: ConversationSettings['interruption'];
  /** True when noise is removed from the caller's sound, and hold music is not answered. `auto`: once noise is loud. */
  readonly suppressesNoise?: NoiseSuppression | undefined;
  readonly longestMs: number;
  /** Milliseconds within which the carrier may replace a broken media stream. */
  readonly lineLostMs: number;
  readonly events: LiveCallEvents;
  /** Called with the number of characters spoken outside the answers, for billing. */
  readonly spoke: (characters: number) => void;
};
