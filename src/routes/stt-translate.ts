import { sellService } from './sell-service.ts';

/** Sells a transcript in English of speech in another language. */
export const sellTranslatedTranscript = sellService(
  'stt-translate',
  'Buy a transcript in English from a vendor',
);
