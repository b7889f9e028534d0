import { EngineInputRefused } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { workerOptions } from '../threads/worker-host.ts';
import { type GrammarDecoder, loadGrammarDecoder } from './grammar-runtime.ts';
import { jsgfSize, oversizeOf } from './jsgf-size.ts';
import { serveDecoder } from './serve-decoder.ts';
import { createUtterances } from './utterances.ts';

export type GrammarOptions = { readonly script: string };

const { script } = workerOptions<GrammarOptions>();
let current: GrammarDecoder | undefined;
let grammar: string | undefined;

const utterances = createUtterances({
  async makeDecoder() {
    current = await loadGrammarDecoder(script);
    if (grammar !== undefined) current.useGrammar(grammar);
    return current;
  },
});

serveDecoder(utterances, async (start) => {
  const jsgf = start.grammar ?? '';
  if (jsgf.trim() === '') throw new EngineInputRefused('This model needs a JSGF grammar.');
  if (jsgf.length > ENGINE_LIMITS.grammar.chars) {
    throw new EngineInputRefused(
      `A grammar has at most ${ENGINE_LIMITS.grammar.chars} characters.`,
    );
  }
  const oversize = oversizeOf(jsgfSize(jsgf));
  if (oversize !== undefined) throw new EngineInputRefused(`A grammar ${oversize}.`);
  // Joining the words of a large grammar takes a second.
  if (jsgf === grammar) return;
  // The previous caller's grammar must not come back when a new decoder is made for this caller.
  grammar = undefined;
  current?.useGrammar(jsgf);
  grammar = jsgf;
});
