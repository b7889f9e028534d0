import type { SttEngine } from '../../engines/engine.ts';
import { ApiError } from '../../kernel/api-error.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import { foreignSpeech } from '../session/expected-speech.ts';
import type { ConfigProblem, SessionConfig } from '../session/session-config.ts';
import type { Buying, PipelineStage } from './pipeline-stage.ts';
import { localEngineOf } from './plan-cascade.ts';
import { createTranscriber, LOCAL_RECOGNISER } from './transcribers-of.ts';

/** Returns a stage that transcribes with the model in the session's settings, or else with `usual`. */
export function createTranscriberStage(
  deps: Buying,
  {
    takesBareNames = false,
    usual,
  }: {
    readonly usual: Model;
    /** True when a name such as `nova-3` selects a model. Answering sessions get such names from clients that chose none. */
    readonly takesBareNames?: boolean;
  },
) {
  const { catalogue, ownKeys } = deps;
  const known = new Map([[usual.id, createTranscriber(deps, usual)]]);
  /** Models found by a caller's key. They stay when the key is removed: their utterances then fail and go to no other model. */
  const opened = new Map<string, Model>();

  function find(id: string): Model | undefined {
    if (!takesBareNames && !id.includes('/')) return undefined;
    return catalogue.find(id) ?? opened.get(id) ?? openByKey(id);
  }

  function openByKey(id: string): Model | undefined {
    const model = catalogue.findKeyed(id);
    if (model === undefined || ownKeys.sourcesOf(model.id).length === 0) return undefined;
    opened.set(id, model);
    return model;
  }

  /** Returns the transcription model of the settings. An unknown name selects the usual model. */
  function modelOf({ transcriptionModel: id }: SessionConfig): Model {
    const named = id === null || id === usual.id ? undefined : find(id);
    return named?.modality === 'stt' ? named : usual;
  }

  function of(config: SessionConfig): PipelineStage<SttEngine> {
    const model = modelOf(config);
    const stage = known.get(model.id) ?? createTranscriber(deps, model);
    known.set(model.id, stage);
    return stage;
  }

  function unknownModel(config: SessionConfig): ConfigProblem | undefined {
    const { transcriptionModel: id } = config;
    if (id === null || id === usual.id) return undefined;
    const model = find(id);
    if (model?.modality !== 'stt') {
      return id.includes('/') ? problem(`there is no stt model "${id}".`) : undefined;
    }
    try {
      of(config);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return problem(String(error.fields.message));
      throw error;
    }
  }

  return {
    modelOf,
    transcriber: (config: SessionConfig) => of(config).stage,
    reserve: (config: SessionConfig) => of(config).reserve(config),
    problemOf(config: SessionConfig): ConfigProblem | undefined {
      const model = modelOf(config);
      const isLocal = localEngineOf(model)?.upstreamModel === LOCAL_RECOGNISER;
      return unknownModel(config) ?? (isLocal ? foreignSpeech(model.id, config) : undefined);
    },
  };
}

const problem = (message: string): ConfigProblem => ({ setting: 'transcriptionModel', message });
