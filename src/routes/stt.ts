import { sellService } from './sell-service.ts';

/** What is said in a file, from the vendor of the path. */
export const sellTranscript = sellService(
  'stt',
  'Buy a transcript from a vendor, with the account of this server',
);
