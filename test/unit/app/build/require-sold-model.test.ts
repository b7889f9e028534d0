import { describe, expect, it } from 'vitest';
import { requireSoldModel } from '../../../../src/app/build/require-sold-model.ts';
import { ConfigError } from '../../../../src/config/config-error.ts';
import { loadCatalogue } from '../../../../src/models/catalogue/load-catalogue.ts';

const catalogueWith = (secret: (name: string) => string | undefined) =>
  loadCatalogue({ secret, clock: { now: () => 0 } });

const refusal = (ask: () => string): string => {
  try {
    return ask();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

describe('a model that a variable names', () => {
  it('a model that a variable names is found by its id and by its bare name', async () => {
    const catalogue = await catalogueWith(() => undefined);
    expect(requireSoldModel(catalogue, 'PHONE_TTS_MODEL', 'local/flite', 'tts')).toBe(
      'local/flite',
    );
    expect(requireSoldModel(catalogue, 'PHONE_TTS_MODEL', 'flite', 'tts')).toBe('local/flite');
  });

  it.each(['none/such', 'local/pocketsphinx'])(
    'a model variable that is %s refuses the start, naming the variable and the models on sale',
    async (name) => {
      const catalogue = await catalogueWith(() => undefined);
      const said = refusal(() => requireSoldModel(catalogue, 'PHONE_TTS_MODEL', name, 'tts'));
      expect(said).toBe(
        `Invalid PHONE_TTS_MODEL "${name}": the catalogue sells no model of modality tts under this name; it sells local/flite`,
      );
    },
  );

  it('the refusal of a model variable lists at most ten model names', async () => {
    const catalogue = await catalogueWith((name) =>
      name.startsWith('VENDOR_') ? undefined : 'key',
    );
    const sold = catalogue.models.filter(({ modality }) => modality === 'text').length;
    expect(sold).toBeGreaterThan(10);
    const said = refusal(() =>
      requireSoldModel(catalogue, 'MEMORY_INFER_MODEL', 'none/such', 'text'),
    );
    expect(said.split(';')[1]?.split(',')).toHaveLength(10);
    expect(said).toContain(` and ${sold - 10} more`);
  });
});
