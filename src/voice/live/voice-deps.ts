import type { CallerFacts, LocalEngines } from '../../engines/engine.ts';
import type { NoiseSuppressors } from '../../engines/noise-suppressor.ts';
import type { SpeechGates } from '../../engines/vad/fvad-gate.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import type { SessionTrace } from './session-trace.ts';
import type { TapeFolder } from './tape-folder.ts';
import type { VoiceMetrics } from './voice-metrics.ts';
import type { VoiceSessions } from './voice-sessions.ts';

/** The dependencies of live voice sessions. */
export type VoiceDeps = {
  readonly engines: Pick<LocalEngines, 'stt' | 'tts' | 'vad' | 'guide' | 'missing' | 'warmUp'>;
  /** First stage of speech detection, loaded once at start. When undefined, loudness alone decides. */
  readonly speechGates: SpeechGates | undefined;
  /** Loaded once at start; without them lines are heard with their noise. */
  readonly noiseSuppressors?: NoiseSuppressors | undefined;
  readonly catalogue: Catalogue;
  readonly ledger: Ledger;
  readonly sessions: VoiceSessions;
  /** Reads the facts that the guide may say about its caller. Called before a turn, off the audio path. */
  readonly callerFacts: (agentId: number) => Promise<CallerFacts>;
  readonly metrics: VoiceMetrics;
  /** Undefined when sessions are not recorded. */
  readonly tapes?: TapeFolder | undefined;
  /** Trace of the session that is opened with these dependencies. Undefined when the session is not traced. */
  readonly trace?: SessionTrace | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};
