import { assert } from '../../../kernel/assert.ts';
import type { Effort } from '../../providers/efforts.ts';
import type { Sampling } from '../../providers/sampling.ts';
import { CERTAINTIES, type Certainty, type Surcharges } from '../catalogue.ts';
import { direct, type ModelEntry, tokens } from './builtin-model.ts';

/** Content of a column without a value: unknown, or without a discount. */
const NONE = '-';

const COLUMNS = 9;

/**
 * Reads a table of chat models that their maker sells, one model per line:
 *
 *     name  input  output  cached  window  answer  certainty  source  read on
 *
 * The prices are USD per million tokens, `window` and `answer` the most tokens of a conversation and of one answer. Where
 * the vendor calls the model otherwise, the name is followed by `=` and the vendor's own. The certainty covers the line.
 */
export function chatTable(
  maker: string,
  lines: readonly string[],
  more: Surcharges & {
    readonly marginBps?: number;
    readonly thinkingSwitch?: boolean;
    readonly efforts?: readonly Effort[];
    readonly sampling?: Sampling;
  } = {},
): ModelEntry[] {
  return lines.map((line) => {
    const words = line.trim().split(/\s+/);
    assert(words.length === COLUMNS, `nine columns, and no more: ${line}`);
    const [names, input, output, cached, window, answer, certainty, source, readOn] = words as [
      string,
      ...string[],
    ] & { readonly length: typeof COLUMNS };
    assert(isCertainty(certainty), `a certainty: ${line}`);
    const [name = '', upstreamModel = name] = names.split('=');
    const rates = tokens(input as string, output as string, cached === NONE ? undefined : cached);
    return direct('text', `${maker}/${name}`, rates, {
      ...more,
      upstreamModel,
      contextWindow: countOf(window, line),
      maxOutputTokens: countOf(answer, line),
      price: { source: source as string, readOn: readOn as string, certainty },
    });
  });
}

const isCertainty = (word: string | undefined): word is Certainty =>
  CERTAINTIES.some((certainty) => certainty === word);

/** Reads a number of tokens, written with underscores between the thousands. Undefined for an empty cell. */
function countOf(word: string | undefined, line: string): number | undefined {
  if (word === undefined || word === NONE) return undefined;
  assert(/^\d{1,3}(_\d{3})*$/.test(word), `a number of tokens: ${line}`);
  return Number(word.replaceAll('_', ''));
}
