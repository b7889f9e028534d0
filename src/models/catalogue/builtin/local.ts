import type { Modality } from '../catalogue.ts';
import type { ModelEntry, RateTexts } from './builtin-model.ts';
import { openWeight, tokens } from './builtin-model.ts';

const local = (name: string, modality: Modality, rates: RateTexts): ModelEntry => ({
  id: `local/${name}`,
  modality,
  sources: [{ rail: 'self-host', provider: 'local', upstreamModel: name, rates }],
});

/**
 * Models of the engines inside this server. Their prices are small but not zero, so that their usage is metered like any other.
 */
export const LOCAL_MODELS: readonly ModelEntry[] = [
  local('guide', 'text', tokens('0.1', '0.4')),
  ...openWeight([
    local('flite', 'tts', { character: '1' }),
    local('pocketsphinx', 'stt', { audio_second: '10' }),
    local('grammar', 'stt', { audio_second: '10' }),
    local('use-lite', 'embedding', { text_input_token: '0.01' }),
  ]),
  local('realtime', 'realtime', { ...tokens('0.1', '0.4'), character: '1', audio_second: '10' }),
];
