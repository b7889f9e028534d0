import { MAY_RETRY, refusal } from '../../kernel/refusal.ts';

/** Refusals of the routes of responses, in addition to the gateway's refusals. Rendered as the OpenAI error object. */
export const responseErrors = {
  /** Refuses to continue an unknown response, with OpenAI's status and code. */
  previousNotFound: (id: string) =>
    refusal(
      400,
      'previous_response_not_found',
      `There is no response ${quoted(id)} to continue: it was not kept, is deleted or has expired, or one that it continues.`,
      { param: 'previous_response_id' },
    ),
  itemNotFound: (id: string) =>
    refusal(
      404,
      'item_not_found',
      `There is no item ${quoted(id)}: items of responses with "store": false are not kept, and kept ones expire.`,
      { param: 'input' },
    ),
  notFound: (id: string) =>
    refusal(404, 'response_not_found', `There is no response ${quoted(id)}.`, { param: 'id' }),
  /** Refusal to cancel a response that has ended and was never in the background. */
  notInProgress: (id: string) =>
    refusal(
      400,
      'response_not_in_progress',
      `Response ${quoted(id)} has ended: only one whose stream is open at this process can be cancelled.`,
      { param: 'id' },
    ),
  conversationTooLong: (limitBytes: number) =>
    refusal(
      400,
      'conversation_too_long',
      `The conversation that this request goes on with has more than ${limitBytes} bytes.`,
      { param: 'previous_response_id' },
    ),
  conversationTooComplex: ({
    members,
    values,
  }: {
    readonly members: number;
    readonly values: number;
  }) =>
    refusal(
      400,
      'conversation_too_long',
      `This request and the conversation that it goes on with have more than ${members} members of objects, or ${values} values, together.`,
      { param: 'previous_response_id' },
    ),
  /** Refuses a message on a connection. Nothing is charged for the message, and the connection stays open. */
  connectionBusy: (mostWaiting: number, mostChars: number) =>
    refusal(
      409,
      'too_many_waiting',
      `A connection answers one request at a time, and at most ${mostWaiting} more, of ${mostChars} characters together, may wait.`,
      {},
      MAY_RETRY,
    ),
  /** Refuses messages on a connection that has reached its time limit, with OpenAI's status and code. */
  connectionLimit: (minutes: number) =>
    refusal(
      400,
      'websocket_connection_limit_reached',
      `A connection is open for ${minutes} minutes at most; open another one.`,
    ),
};

const quoted = (id: string): string => JSON.stringify(id);
