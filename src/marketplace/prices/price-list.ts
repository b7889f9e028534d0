import type { ListPrice } from './price.ts';

const perThousand = (usd: string): ListPrice => ({ usd, per: 1_000, unit: 'character' });
const perTenThousand = (usd: string): ListPrice => ({ usd, per: 10_000, unit: 'character' });
const perMillion = (usd: string): ListPrice => ({ usd, per: 1_000_000, unit: 'character' });
const perHour = (usd: string): ListPrice => ({ usd, per: 3_600, unit: 'second' });

/**
 * List prices of vendors, from the published pages of the marketplace. A price that those pages leave open comes from the
 * vendor's own page. Rupees are converted at 83 for a dollar.
 */
export const LIST = {
  free: { usd: '0', per: 1, unit: 'character' } satisfies ListPrice,
  deepgram: {
    tts: perThousand('0.030'),
    stt: { usd: '0.0077', per: 60, unit: 'second', step: 60 } satisfies ListPrice,
  },
  elevenlabs: {
    flash: perThousand('0.05'),
    /** Price of version 3. Multilingual v2 has the same price, since it takes as many credits by the vendor's own page. */
    full: perThousand('0.10'),
    stt: perHour('0.22'),
  },
  cartesia: {
    /**
     * The published page says "per character". The vendor's page counts one credit for a character, and 100,000 credits cost 5
     * dollars.
     */
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
    /** Price from the vendor's own page, https://inworld.ai/pricing. */
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
    /** Price of 3.5 rupees, rounded up. */
    lid: perTenThousand('0.042169'),
    /** Price of half a rupee for a page, rounded up. */
    doc: { usd: '6.024097', per: 1_000, unit: 'page' } satisfies ListPrice,
  },
} as const;
