import type { Rates, Unit } from '../../kernel/price.ts';
import type { Modality, Rail } from './catalogue.ts';

type Billing = {
  /** Alternative sets of units. A source needs a rate for every unit of one set, or some work at it would be free. */
  readonly ways: readonly (readonly Unit[])[];
  /** Units that are billed only at sources with a rate for them. At other sources another unit covers them. */
  readonly besides: readonly Unit[];
};

const BILLING: Readonly<Record<Modality, Billing>> = {
  text: { ways: [['text_input_token', 'text_output_token']], besides: ['cached_input_token'] },
  embedding: { ways: [['text_input_token']], besides: [] },
  tts: { ways: [['character'], ['text_input_token', 'audio_output_token']], besides: [] },
  stt: { ways: [['audio_second'], ['audio_input_token', 'text_output_token']], besides: [] },
  realtime: {
    ways: [
      ['audio_second'],
      ['text_input_token', 'text_output_token', 'audio_input_token', 'audio_output_token'],
    ],
    besides: ['cached_input_token', 'character'],
  },
};

/** Units of one modality: the sets of rates (`ways`) that bill all work of it, and all units that a bill may contain. */
export function billedUnits(modality: Modality) {
  const { ways, besides } = BILLING[modality];
  return { ways, units: new Set([...ways.flat(), ...besides]) };
}

/** Returns true when a source bills per call and has no other rate. */
export const isByTheCall = (rates: Partial<Record<Unit, unknown>>): boolean =>
  rates.request !== undefined && Object.keys(rates).length === 1;

/**
 * Returns the units whose missing rates would make work at a source free. Of the alternative ways of billing it takes the one
 * that lacks the fewest rates.
 */
export function missingRates(
  modality: Modality,
  { rail, rates }: { readonly rail: Rail; readonly rates: Rates | Partial<Record<Unit, string>> },
): readonly Unit[] {
  if (rail === 'free' || rail === 'byok' || isByTheCall(rates)) return [];
  const lacking = billedUnits(modality).ways.map((way) =>
    way.filter((unit) => rates[unit] === undefined),
  );
  return lacking.reduce((closest, lack) => (lack.length < closest.length ? lack : closest));
}
