import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../../../src/config/config-error.ts';
import { requireCallModels } from '../../../../../src/phone/calls/opening/require-models.ts';
import { railsOf } from '../../../../support/cascade-world.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { createVoiceWorld } from '../../../../support/voice-world.ts';

const required = async (models: { readonly stt: string; readonly tts: string }) => {
  const { deps, engines } = await createVoiceWorld({ clock: new ManualClock(), creditRaw: 0n });
  const { cascades, close } = railsOf(deps.catalogue, { deps, engines });
  try {
    requireCallModels({ ...deps, cascades, models: { ...models, llm: 'local/guide' } });
  } finally {
    await close();
  }
};

describe('the models that a server is started with for calls', () => {
  it('requireModels accepts models with which a call can be opened', async () => {
    await required({ stt: 'local/pocketsphinx', tts: 'local/flite' });
  });

  it('requireModels refuses a model that is for sale and cannot serve a call', async () => {
    const refused = required({ stt: 'local/grammar', tts: 'local/flite' });
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow('No source of "local/grammar" can serve this here.');
  });
});
