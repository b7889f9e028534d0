import { BRAND } from '../../kernel/ids.ts';

const COST = `: ${BRAND.headerPrefix.replace(/^x-/, '')}cost-usdc`;

/** The price of a stream, in raw USDC, as a comment: readers of such streams skip it unless they look for it. */
export const costComment = (chargedRaw: bigint): Buffer => Buffer.from(`${COST}=${chargedRaw}\n\n`);

/** How streams of one dialect end, with their price, raw. */
export type StreamEnding = {
  /** The last words of one that is whole. */
  whole(chargedRaw: bigint): Buffer;
  /** The last event of one that broke, for this reason. */
  broken(chargedRaw: bigint, cause: unknown): Buffer;
};

/** The last words of a stream that is whole. */
export const wholeEnd = (chargedRaw: bigint): Buffer =>
  Buffer.concat([costComment(chargedRaw), TERMINATOR]);

/** The last event of a stream that broke, with its price unless that was sent before. */
export const brokenEnd = (chargedRaw: bigint | undefined): Buffer =>
  chargedRaw === undefined ? BROKEN : Buffer.concat([costComment(chargedRaw), BROKEN]);

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
