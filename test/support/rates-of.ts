import { parseRate, type Rates, type Unit } from '../../src/kernel/price.ts';
import type { RateTexts } from '../../src/models/catalogue/builtin/builtin-model.ts';

export const ratesOf = (texts: RateTexts): Rates =>
  Object.fromEntries(
    Object.entries(texts).map(([unit, text]) => {
      const rate = parseRate(text);
      if (rate === undefined) throw new Error(`${unit} has the rate ${text}`);
      return [unit as Unit, rate];
    }),
  );
