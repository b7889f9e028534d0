import { sellService } from './sell-service.ts';

/** Sells the transliteration of a text into another script by the vendor that the path names. */
export const sellTransliteration = sellService(
  'transliterate',
  'Buy a text in another script from a vendor',
);
