/** Limits of challenges, payments and settlements. */
export const X402_LIMITS = {
  /** Characters of a challenge, a payment or a settlement in base64. */
  headerChars: 32 * 1024,
  /** Bytes of a challenge that comes as a body. */
  challengeBodyBytes: 64 * 1024,
  jsonDepth: 64,
  /** Entries of a challenge that are read, the first ones. */
  offers: 64,
  /** Characters of a vendor's error text that are kept. */
  reasonChars: 200,
} as const;
