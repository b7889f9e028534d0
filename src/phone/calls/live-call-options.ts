import type { Ending } from '../../../machines/transcription-stream.ts';
import type { SoundFormat } from '../../../media/coding.ts';
import type { VoiceSessionInput } from '../../voice/session/voice-session-input.ts';
import type { MediaCodec } from '../carriers/carrier.ts';
import type { CallTurn } from '../records/said-turn.ts';
import type { TurnRecordDeps } from '../records/turn-record.ts';
import type { CallAction } from '../voice/call-actions.ts';
import type { ActionItem } from '../voice/call-client.ts';
import type { ConversationSettings } from '../voice/conversation-settings.ts';

/** An action that is carried out beside the conversation. */
export type ActionOfCall = Exclude<CallAction, { name: 'end_call' }>;

/** Callbacks by which a live call reports what is said, heard and asked for in it. */
export type LiveCallEvents = Pick<TurnRecordDeps, 'said' | 'heard' | 'interrupted'> & {
  readonly act: (action: ActionOfCall) => void;
  /** Words of the present turn: all that the far side has said of it by now, or what the agent says next. */
  readonly words?: (role: CallTurn['role'], text: string) => void;
  readonly digit: (digit: string) => void;
  /** The model calls a function that is no action of the call. */
  readonly callTool?: (item: ActionItem) => void;
  /** The far side has said something. */
  readonly callerSpoke?: () => void;
  /** The responder ends the call and leaves this to the developer: `end` is called once it is kept. */
  readonly handOff?: (data: string) => void;
  /** An answer is over that the far side did not interrupt. */
  readonly answered?: () => void;
  /** Digits that the responder has asked for. */
  readonly entered?: (digits: string) => void;
  /** The far side has heard the notice, or will not. */
  readonly announced?: () => void;
  readonly notAnnounced?: () => void;
  readonly detached: () => void;
  readonly attached: () => void;
  /** The last words were heard: the carrier may drop the line. */
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
  /** The responder hears each key as it is pressed, and answers it by itself. */
  readonly hearsKeys?: boolean;
  /** Rules by which the caller's speech interrupts an answer. Absent: the defaults. */
  readonly interruption?: ConversationSettings['interruption'];
  /** Noise is taken out of what the caller says, and hold music is not answered. */
  readonly suppressesNoise?: boolean | undefined;
  readonly longestMs: number;
  /** Milliseconds within which the carrier may open a new media stream for one that broke. */
  readonly lineLostMs: number;
  readonly events: LiveCallEvents;
  /** Number of characters that were spoken beside the answers, to be billed. */
  readonly spoke: (characters: number) => void;
};
