import { sellService } from './sell-service.ts';

/** Sells the translation of a text by the vendor that the path names. */
export const sellTranslation = sellService('translate', 'Buy a translation from a vendor');
