import { sellService } from './sell-service.ts';

/** Sells the detection of a text's language by the vendor that the path names. */
export const sellLanguage = sellService(
  'lid',
  'Buy the name of the language of a text from a vendor',
);
