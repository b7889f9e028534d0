import type { SessionHoldOwner } from '../billing/session-hold.ts';
import type { SessionHolds } from '../billing/session-holds.ts';
import type { TurnCap } from '../billing/turn-meter.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';
import type { SessionConfig } from './session-config.ts';
import type { VoicePipeline } from './voice-pipeline.ts';

/** Dependencies that all voice sessions of a process share. */
export type VoiceSessionDeps = Pick<
  VoiceDeps,
  'noiseSuppressors' | 'speechGates' | 'sessions' | 'metrics' | 'trace' | 'clock' | 'random' | 'log'
> & {
  readonly engines: Pick<VoiceDeps['engines'], 'vad'>;
};

/** Inputs of one voice session. */
export type VoiceSessionInput = {
  readonly owner: SessionHoldOwner;
  readonly sessionHolds: SessionHolds;
  readonly cap: TurnCap;
  /** Tokens held for the first answer, when fewer than the cap's longest answer. */
  readonly outputTokens?: number;
  readonly pipeline: VoicePipeline;
  /** Settings in the handshake; undefined when it has none. */
  readonly config?: SessionConfig;
  /** Frees the session's slots at the engines of this process. */
  readonly release?: (() => void) | undefined;
};
