import { HEARING_HZ } from '../../media/hearing.ts';
import {
  EngineBusy,
  EngineInputRefused,
  EngineMissing,
  type EnginePlace,
  type LocalEngines,
  type SttEngine,
  type SttListener,
  type SttStream,
} from '../engines/engine.ts';
import { enginesAt } from '../engines/engines-for.ts';
import type { Catalogue, Modality, Model, Source } from '../models/catalogue/catalogue.ts';
import { gatewayErrors } from '../models/errors.ts';
import type { VoiceSessionInput } from '../voice/session/voice-session-input.ts';
import type { TakenRecogniser } from '../voice/transcription/local-transcriber.ts';

/** Returns a model that this server can serve live over a socket. Throws the refusal of the upgrade for any other model. */
export function requireLiveModel(
  catalogue: Catalogue,
  id: string,
  modality: Modality,
): { readonly model: Model; readonly source: Source } {
  const model = catalogue.find(id);
  if (model === undefined) throw gatewayErrors.modelNotFound(id, catalogue.suggest(id));
  if (model.modality !== modality) {
    throw gatewayErrors.invalidRequest(
      `The model "${id}" is of the modality ${model.modality}; this socket takes ${modality}.`,
      'model',
    );
  }
  const source = model.sources.find(
    ({ provider }) => catalogue.provider(provider)?.dialect === 'local',
  );
  if (source === undefined) {
    throw gatewayErrors.noSourceAvailable(`No source of "${id}" can be streamed from here.`);
  }
  return { model, source };
}

type EngineName = Parameters<LocalEngines['missing']>[0];

/** Throws the refusal of the upgrade when the package of one of these engines was pruned from this installation. */
export function requireEngines(engines: Pick<LocalEngines, 'missing'>, names: EngineName[]): void {
  for (const name of names) {
    const missing = engines.missing(name);
    if (missing !== undefined) throw gatewayErrors.noSourceAvailable(missing);
  }
}

/** Takes one recogniser for the life of a stream, before the stream is accepted or money is held for it. */
export async function takeRecogniser(
  engine: SttEngine,
  options: { readonly grammar?: string; readonly language?: string },
): Promise<TakenRecogniser> {
  let target: SttListener | undefined;
  let early: Error | undefined;
  const listener: SttListener = {
    transcript: (transcript) => target?.transcript(transcript),
    failed(error) {
      if (target === undefined) early = error;
      else target.failed(error);
    },
  };
  let stt: SttStream;
  try {
    stt = await engine.open({ sampleRateHz: HEARING_HZ, listener, ...options });
  } catch (error) {
    throw refuseEngine(error);
  }
  return {
    stt,
    listen(heard) {
      if (early !== undefined) throw early;
      target = heard;
    },
  };
}

/**
 * Opens a session with a slot at the recogniser of this process, which is freed at the end of the session. Throws the refusal
 * when no slot is free.
 */
export async function openPlaced<E extends Pick<LocalEngines, 'stt'>>(
  engines: E,
  open: (engines: E) => Promise<VoiceSessionInput>,
): Promise<VoiceSessionInput> {
  let place: EnginePlace;
  try {
    place = engines.stt.pocketsphinx.takePlace();
  } catch (error) {
    throw refuseEngine(error);
  }
  try {
    return { ...(await open(enginesAt(engines, place))), release: () => place.release() };
  } catch (error) {
    place.release();
    throw error;
  }
}

/** Maps an engine's refusal to a gateway error. Returns any other error, which is a bug, unchanged. */
function refuseEngine(error: unknown): unknown {
  if (error instanceof EngineBusy) return gatewayErrors.engineBusy(error.retryAfterSeconds);
  if (error instanceof EngineMissing) return gatewayErrors.noSourceAvailable(error.message);
  if (error instanceof EngineInputRefused) {
    return gatewayErrors.invalidRequest(error.message, 'prompt');
  }
  return error;
}
