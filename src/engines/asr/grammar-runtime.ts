import { dirname, join } from 'node:path';
import type { Segment } from 'soundswallower';
import { HEARING_HZ } from '../../../media/hearing.ts';
import { writeFloats } from '../../../media/pcm.ts';
import { EngineInputRefused, type TimedWord } from '../engine.ts';
import { isTrap } from '../threads/web-assembly.ts';
import type { Decoder } from './decoder.ts';

export interface GrammarDecoder extends Decoder {
  /** Uses a grammar. Throws EngineInputRefused with the recogniser's message about an invalid grammar. */
  useGrammar(jsgf: string): void;
}

/** Loads the grammar recogniser from its package's entry script. Takes 0.2 s and about 90 MB. */
export async function loadGrammarDecoder(script: string): Promise<GrammarDecoder> {
  const { default: createModule } = await import('soundswallower');
  let complaints: string[] = [];
  const complain = (line: string) => {
    if (line.includes('ERROR') && complaints.length < 5) complaints.push(line);
  };
  const runtime = await createModule({
    modelBase: `${join(dirname(script), 'model')}/`,
    print: complain,
    printErr: complain,
  } as object);
  const decoder = new runtime.Decoder({ samprate: HEARING_HZ, loglevel: 'ERROR' });
  await decoder.initialize();

  return {
    useGrammar(jsgf) {
      complaints = [];
      let cause = '';
      try {
        decoder.set_grammar(jsgf);
      } catch (error) {
        if (isTrap(error)) throw error;
        cause = error instanceof Error ? error.message : String(error);
      }
      // For an undefined rule the recogniser only logs a complaint: it would load the grammar and never match.
      const complaint = complaints.find((line) => !line.includes('Failed to parse'));
      const said = complaint?.replace(/^.*?line \d+: | at line \d+ .*$/g, '') ?? cause;
      if (said !== '') throw new EngineInputRefused(`The grammar cannot be used: ${said}`);
    },
    begin: () => decoder.start(),
    feed(pcm) {
      const floats = new Float32Array(pcm.length);
      writeFloats(pcm, floats);
      decoder.process_audio(floats);
    },
    hypothesis: () => decoder.get_text(),
    end() {
      decoder.stop();
      return decoder.get_text();
    },
    words() {
      if (decoder.get_text() === '') return [];
      const { w = [] } = decoder.get_alignment();
      return w.flatMap(wordOf);
    },
  };
}

/**
 * Returns the word of a segment, with times converted from seconds. Silence, noise and joints of the grammar yield no word; the
 * number of a pronunciation variant (`read(2)`) is removed.
 */
function wordOf({ t, b, d }: Segment): TimedWord[] {
  if (/^(<|\+\+|\[|\()/.test(t)) return [];
  const word = t.replace(/\(\d+\)$/, '');
  return [{ word, startMs: Math.round(1_000 * b), endMs: Math.round(1_000 * (b + d)) }];
}
