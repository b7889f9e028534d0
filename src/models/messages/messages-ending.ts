import { BrokenMessage } from '../providers/anthropic/broken-message.ts';
import { priceComments, type StreamEnding } from '../purchase/stream-end.ts';
import { messageEvent } from './message-events.ts';

/** Ending of a Messages stream: the price as a comment, then `message_stop` or the error that broke it off. */
export const MESSAGES_ENDING: StreamEnding = {
  whole: (price) =>
    Buffer.concat([priceComments(price), Buffer.from(messageEvent('message_stop'))]),
  broken: (price, cause) =>
    Buffer.concat([
      priceComments(price),
      Buffer.from(messageEvent('error', { error: errorOf(cause) })),
    ]),
};

const BROKE_OFF = 'The upstream broke off in the middle of its answer; what came of it is charged.';

/**
 * Returns the error of a stream that broke, with the type and sentence of the upstream's own error if it sent one: clients
 * decide by the type whether they retry.
 */
function errorOf(cause: unknown) {
  const isReported = cause instanceof BrokenMessage;
  return {
    type: isReported ? cause.type : 'api_error',
    message: isReported && cause.told !== '' ? `${BROKE_OFF} It said: ${cause.told}` : BROKE_OFF,
    code: 'upstream_broke_off',
  };
}
