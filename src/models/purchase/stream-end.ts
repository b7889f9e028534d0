import { BRAND } from '../../kernel/ids.ts';
import type { Price } from './receipt.ts';

const PREFIX = `: ${BRAND.headerPrefix.replace(/^x-/, '')}`;

/**
 * Writes the price of a stream as a comment, in raw USDC, and the savings of a prompt cache as a second comment. Readers of
 * server-sent events skip comments unless they look for them.
 */
export const priceComments = ({ cacheDiscountRaw: discount, chargedRaw }: Price): Buffer => {
  const saved = discount === undefined ? '' : `${PREFIX}cache-discount-usdc=${discount}\n\n`;
  return Buffer.from(`${PREFIX}cost-usdc=${chargedRaw}\n\n${saved}`);
};

/** Ending of streams in one dialect, with their price. */
export type StreamEnding = {
  /** Returns the last bytes of a whole stream. */
  whole(price: Price): Buffer;
  /** Returns the last event of a stream that broke for the reason `cause`. */
  broken(price: Price, cause: unknown): Buffer;
};

/** Returns the last bytes of a whole stream: the price and the terminator. */
const wholeEnd = (price: Price): Buffer => Buffer.concat([priceComments(price), TERMINATOR]);

/** Returns the last event of a stream that broke, with the price unless the price was sent before. */
export const brokenEnd = (price: Price | undefined): Buffer =>
  price === undefined ? BROKEN : Buffer.concat([priceComments(price), BROKEN]);

const TERMINATOR = Buffer.from('data: [DONE]\n\n');

const BROKEN = Buffer.from(
  `data: ${JSON.stringify({
    error: {
      message: 'The upstream broke off in the middle of its answer; what came of it is charged.',
      type: 'upstream_error',
      code: 'upstream_broke_off',
    },
  })}\n\n`,
);

/** Ends of streams in the OpenAI dialect. */
export const OPENAI_ENDING: StreamEnding = { whole: wholeEnd, broken: brokenEnd };
