import { open } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigError } from '../config/config-error.ts';
import { PHONE_LIMITS } from './limits.ts';
import { RATE_CARD, type RateCard } from './rate-card.ts';

/** An amount of raw USDC: digits in a string, or a whole number. No price is above one million USDC. */
const raw = z
  .union([z.number().int().nonnegative(), z.string().regex(/^\d{1,13}$/, 'digits')])
  .transform(BigInt)
  .refine((value) => value <= 10n ** 12n, 'at most one million USDC');

const card = z
  .strictObject({
    rentalRaw: raw,
    inboundMinuteRaw: raw,
    outboundMinuteRaw: raw,
    streamMinuteRaw: raw,
    recordingMinuteRaw: raw,
    machineDetectionRaw: raw,
    sttMinuteRaw: raw,
    ttsThousandRaw: raw,
    incrementSeconds: z.union([z.literal(1), z.literal(6), z.literal(60)]),
  })
  .partial();

/**
 * Returns the published prices, overridden by the prices of the file. The file is one JSON object of members of `RateCard`;
 * prices are raw USDC, as whole numbers or as strings of digits. Throws ConfigError, which names PHONE_RATE_CARD_FILE, the file
 * and the member.
 */
export async function loadRateCard(path: string | undefined): Promise<RateCard> {
  if (path === undefined) return RATE_CARD;
  const refuse = (why: string) => new ConfigError(`PHONE_RATE_CARD_FILE ${path}: ${why}`);
  const text = await readBounded(path).catch((error: Error) => {
    throw refuse(error.message);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse((error as Error).message);
  }
  const parsed = card.safeParse(value);
  if (parsed.success) return { ...RATE_CARD, ...withoutAbsent(parsed.data) };
  throw refuse(z.prettifyError(parsed.error));
}

/** Returns the members that are present: an absent member must not replace a published price. */
const withoutAbsent = (prices: z.infer<typeof card>): Partial<RateCard> =>
  Object.fromEntries(Object.entries(prices).filter(([, value]) => value !== undefined));

async function readBounded(path: string): Promise<string> {
  await using handle = await open(path, 'r');
  const { size } = await handle.stat();
  if (size > PHONE_LIMITS.carrier.rateCardFileBytes) {
    throw new Error(`larger than ${PHONE_LIMITS.carrier.rateCardFileBytes} bytes`);
  }
  return handle.readFile('utf8');
}
