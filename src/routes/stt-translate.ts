import { sellService } from './sell-service.ts';

/** What is said in a file in another language, in English. */
export const sellTranslatedTranscript = sellService(
  'stt-translate',
  'Buy a transcript in English from a vendor',
);
