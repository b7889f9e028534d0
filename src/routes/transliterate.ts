import { sellService } from './sell-service.ts';

/** A text in another script, from the vendor of the path. */
export const sellTransliteration = sellService(
  'transliterate',
  'Buy a text in another script from a vendor',
);
