import type { ListPrice } from './price.ts';

const perThousand = (usd: string): ListPrice => ({ usd, per: 1_000, unit: 'character' });
const perTenThousand = (usd: string): ListPrice => ({ usd, per: 10_000, unit: 'character' });
const perMillion = (usd: string): ListPrice => ({ usd, per: 1_000_000, unit: 'character' });
const perHour = (usd: string): ListPrice => ({ usd, per: 3_600, unit: 'second' });

/**
 * The list prices of vendors, as the published pages of the marketplace state them; where those leave one open, as the
 * vendor's own page does. Rupees are taken at 83 for a dollar.
 */
export const LIST = {
  free: { usd: '0', per: 1, unit: 'character' } satisfies ListPrice,
  deepgram: {
    tts: perThousand('0.030'),
    stt: { usd: '0.0077', per: 60, unit: 'second', step: 60 } satisfies ListPrice,
  },
  elevenlabs: {
    flash: perThousand('0.05'),
    /** Version 3, and by the vendor's own page Multilingual v2, which takes as many credits. */
    full: perThousand('0.10'),
    stt: perHour('0.22'),
  },
  cartesia: {
    /** The published page says "per character": by the vendor's page a credit each, 100,000 of which are 5 dollars. */
    tts: perThousand('0.05'),
    stt: perHour('0.135'),
  },
  google: { tts: perMillion('30') },
  azure: { tts: perMillion('15'), stt: perHour('0.36') },
  assemblyai: { stt: perHour('0.21') },
  rime: { tts: perThousand('0.05') },
  xai: { tts: perMillion('15'), stt: perHour('0.10') },
  inworld: {
    tts: perMillion('25'),
    /** By the vendor's own page, https://inworld.ai/pricing. */
    tts2: perMillion('35'),
  },
  minimax: { turbo: perMillion('60'), hd: perMillion('100') },
  polly: {
    neural: perMillion('16'),
    standard: perMillion('4'),
    generative: perMillion('30'),
  },
  speechmatics: { stt: perHour('0.24') },
  sarvam: {
    tts: perTenThousand('0.36'),
    stt: perHour('0.36'),
    translate: perTenThousand('0.24'),
    /** 3.5 rupees, rounded up. */
    lid: perTenThousand('0.042169'),
    /** Half a rupee a page, rounded up. */
    doc: { usd: '6.024097', per: 1_000, unit: 'page' } satisfies ListPrice,
  },
} as const;
