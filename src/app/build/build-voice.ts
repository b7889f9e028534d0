import { readCallerFacts } from '../../accounts/agents/caller-facts-store.ts';
import type { LocalEngines } from '../../engines/engine.ts';
import { EngineMissing } from '../../engines/engine.ts';
import { createLocalEngines } from '../../engines/local-engines.ts';
import { loadNoiseSuppressors } from '../../engines/noise-suppressor.ts';
import { loadSpeechGates } from '../../engines/vad/fvad-gate.ts';
import type { Log } from '../../kernel/log.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { createRetryingRead } from '../../ledger/engine/retry.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Metrics } from '../../platform/tracing/metrics.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';
import { tellSteps } from '../../voice/live/session-steps.ts';
import { openTapeFolder, type TapeFolder } from '../../voice/live/tape-folder.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import { createVoiceMetrics } from '../../voice/live/voice-metrics.ts';
import { createVoiceSessions } from '../../voice/live/voice-sessions.ts';
import type { World } from './world.ts';

/** The parts of voice with all local engines, also those that no socket uses. */
export type VoiceParts = VoiceDeps & { readonly engines: LocalEngines };

/** Builds the parts that all voice sockets share: engines, live sessions, and facts for sessions. */
export async function buildVoice(
  world: World,
  ledger: Ledger,
  teardown: Teardown,
): Promise<VoiceParts> {
  const { catalogue, clock, random, log, metrics, onSessionStep, settings } = world;
  const sizes = { listeners: settings.localListeners };
  const engines =
    world.engines ?? teardown.use('engines', createLocalEngines({ clock, random, log, sizes }));
  watchPlaces(metrics, engines);
  const sessions = createVoiceSessions({ clock });
  const read = createRetryingRead(clock);
  return {
    engines,
    sessions,
    catalogue,
    clock,
    random,
    log,
    ledger: onSessionStep === undefined ? ledger : tellSteps(ledger, onSessionStep),
    speechGates: await loadSpeechGates().catch(whenPruned),
    noiseSuppressors: await loadNoiseSuppressors().catch(whenPruned),
    callerFacts: (agentId) => read(() => readCallerFacts(world.sql, agentId)),
    tapes: await openTapes(settings.recordSessionsDir, log),
    metrics: createVoiceMetrics(metrics, () => sessions.size),
  };
}

/** Counts the listeners at each recogniser of this process. */
function watchPlaces(metrics: Metrics, { stt }: LocalEngines): void {
  for (const [name, { places }] of Object.entries(stt)) {
    const watch = (what: string, help: string, read: () => number) =>
      metrics.watch(`svc_engine_${name}_${what}`, help, read);
    watch('places', `Listeners that local/${name} has room for.`, () => places.most);
    watch('places_taken', `Listeners that have a place at local/${name}.`, () => places.taken);
    watch('places_refused', `Listeners that local/${name} had no place for.`, () => places.refused);
  }
}

async function openTapes(directory: string | undefined, log: Log): Promise<TapeFolder | undefined> {
  if (directory === undefined) return undefined;
  return openTapeFolder({ directory, log, limits: VOICE_LIMITS.tapes });
}

/**
 * Returns undefined when the installation lacks an engine's package: then loudness alone finds speech, and lines keep their
 * noise. Throws any other error again: it is a bug.
 */
function whenPruned(error: unknown): undefined {
  if (error instanceof EngineMissing) return undefined;
  throw error;
}
