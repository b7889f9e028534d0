import type { Spender } from '../../ledger/rules/requests.ts';
import type { ChatRail } from '../../models/providers/chat-rail.ts';
import type { CircuitBreaker } from '../../models/providers/circuit-breaker.ts';
import type { SpeechRail } from '../../models/providers/speech-rail.ts';
import type { TranscriptionRail } from '../../models/providers/transcription-rail.ts';
import type { TurnRail } from '../../models/providers/turns/turn-rail.ts';
import type { StoredKeys } from '../../models/routing/keyed-sources.ts';
import type { Rails } from '../../models/routing/open-rails.ts';
import type { SessionHolds } from '../billing/session-holds.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';
import type { HoldNameOf } from './model-binding.ts';
import type { OwnKeys } from './own-keys.ts';
import type { CascadePlan } from './plan-cascade.ts';

export type CanRail<R> = Pick<Rails<R>, 'railOf'>;

/** Dependencies of cascades beyond `VoiceDeps`. */
export type Cascades = {
  readonly chat: CanRail<ChatRail>;
  readonly speech: CanRail<SpeechRail>;
  readonly hearing: CanRail<TranscriptionRail>;
  /** Recognisers that detect the ends of turns. Absent when there are none. */
  readonly turns?: CanRail<TurnRail> | undefined;
  readonly breaker: CircuitBreaker;
  readonly providerKeys: StoredKeys;
};

export type CascadeHolds = Pick<
  SessionHolds,
  'heldRaw' | 'spentRaw' | 'hold' | 'holdQuietly' | 'makeWhole'
>;

export type CascadeDeps = Pick<
  VoiceDeps,
  'catalogue' | 'clock' | 'engines' | 'log' | 'random' | 'trace'
> & {
  readonly cascades: Cascades;
  readonly plan: CascadePlan;
  readonly spender: Spender;
  readonly sessionHolds: CascadeHolds;
  readonly ownKeys: OwnKeys;
  readonly holdNameOf: HoldNameOf;
};
