import { sellService } from './sell-service.ts';

/** A text in another language, from the vendor of the path. */
export const sellTranslation = sellService('translate', 'Buy a translation from a vendor');
