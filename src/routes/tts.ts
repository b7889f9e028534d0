import { sellService } from './sell-service.ts';

/** Sells speech for a text, as audio in base64, by the vendor that the path names. */
export const sellSpeech = sellService(
  'tts',
  'Buy speech from a vendor, with the account of this server',
);
