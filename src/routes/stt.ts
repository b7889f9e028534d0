import { sellService } from './sell-service.ts';

/** Sells a transcript of a file, by the vendor that the path names. */
export const sellTranscript = sellService(
  'stt',
  'Buy a transcript from a vendor, with the account of this server',
);
