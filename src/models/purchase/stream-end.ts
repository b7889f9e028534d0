import { BRAND } from '../../kernel/ids.ts';
import type { Price } from './receipt.ts';

const PREFIX = `: ${BRAND.headerPrefix.replace(/^x-/, '')}`;

/**
 * The price of a stream, in raw USDC, as a comment, and what a prompt cache has saved as another one: readers of such streams
 * skip comments unless they look for them.
 */
export const priceComments = ({ cacheDiscountRaw: discount, chargedRaw }: Price): Buffer => {
  const saved = discount === undefined ? '' : `${PREFIX}cache-discount-usdc=${discount}\n\n`;
  return Buffer.from(`${PREFIX}cost-usdc=${chargedRaw}\n\n${saved}`);
};

/** Ending of streams in one dialect, with their price. */
export type StreamEnding = {
  /** The last words of one that is whole. */
  whole(price: Price): Buffer;
  /** The last event of one that broke, for this reason. */
  broken(price: Price, cause: unknown): Buffer;
};

/** The last words of a stream that is whole. */
export const wholeEnd = (price: Price): Buffer => Buffer.concat([priceComments(price), TERMINATOR]);

/** The last event of a stream that broke, with its price unless that was sent before. */
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

/** Streams of the OpenAI dialect. */
export const OPENAI_ENDING: StreamEnding = { whole: wholeEnd, broken: brokenEnd };
