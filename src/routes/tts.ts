import { sellService } from './sell-service.ts';

/** A text as sound, in base64, from the vendor of the path. */
export const sellSpeech = sellService(
  'tts',
  'Buy speech from a vendor, with the account of this server',
);
