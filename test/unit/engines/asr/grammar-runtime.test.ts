import { describe, expect, it } from 'vitest';
import { loadGrammarDecoder } from '../../../../src/engines/asr/grammar-runtime.ts';
import { EngineInputRefused } from '../../../../src/engines/engine.ts';
import { createEngineFiles } from '../../../../src/engines/threads/engine-files.ts';
import { loadRecording } from '../../../support/speech.ts';

describe('grammar runtime', () => {
  it('the grammar runtime understands a command of its grammar, and names the fault of an invalid grammar', async () => {
    const decoder = await loadGrammarDecoder(createEngineFiles().grammarScript());
    decoder.useGrammar('#JSGF V1.0; grammar go; public <go> = go (forward | back) ten meters;');
    expect(() => decoder.useGrammar('#JSGF V1.0; grammar x; public <x> = zzyzxqq;')).toThrow(
      new EngineInputRefused(
        "The grammar cannot be used: The word 'zzyzxqq' is missing in the dictionary",
      ),
    );
    decoder.useGrammar('#JSGF V1.0; grammar go; public <go> = go (forward | back) ten meters;');
    decoder.begin();
    decoder.feed(loadRecording('goforward.wav'));
    expect(decoder.end()).toBe('go forward ten meters');
  });
});
