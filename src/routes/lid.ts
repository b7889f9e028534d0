import { sellService } from './sell-service.ts';

/** The language that a text is in, from the vendor of the path. */
export const sellLanguage = sellService(
  'lid',
  'Buy the name of the language of a text from a vendor',
);
