import { parseShape, refuseInput } from '../http/pipeline/parse-input.ts';
import { renderError } from '../http/route/render-error.ts';
import { socketRoute } from '../http/route/socket-route.ts';
import type { Clock } from '../kernel/clock.ts';
import { JSON_LIMITS } from '../kernel/json/limits.ts';
import { JsonTooComplex } from '../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../kernel/json/parse-json-in-turns.ts';
import { isObject, type Json } from '../kernel/json.ts';
import type { Log } from '../kernel/log.ts';
import { turnForLongWork } from '../kernel/long-work.ts';
import { MODEL_LIMITS } from '../models/limits.ts';
import type { Relayed } from '../models/purchase/answer.ts';
import { ConnectionBytes } from '../models/responses/connection/connection-memory.ts';
import {
  type AskedResponse,
  ResponseConnection,
} from '../models/responses/connection/response-connection.ts';
import type { Responses } from '../models/responses/responses.ts';
import { ResponsesRequest } from '../models/responses/responses-request.ts';
import {
  ROUTING_PREFERENCES,
  readPreferences,
  USAGE_PREFERENCE,
} from '../models/routing/routing-preferences.ts';
import { limitedMessages } from '../protocols/limited-messages.ts';
import { readSocketBuyer } from '../protocols/read-socket-buyer.ts';
import type { RefusalLog } from '../reports/refusals/refusal-log.ts';

type Deps = {
  readonly responses: Pick<Responses, 'create'>;
  readonly clock: Clock;
  /** Record of the agents' refusals and failed calls. Absent: none is kept. */
  readonly refusals?: Pick<RefusalLog, 'note'>;
};

/** Serves OpenAI's WebSocket mode of Responses. Each message is a purchase of `POST /v1/responses`. */
export const createResponsesSocket = ({ clock, refusals, responses }: Deps) => {
  const remembered = new ConnectionBytes();
  return socketRoute()({
    path: '/v1/responses',
    credential: 'agent',
    summary: 'Buy responses one after another over one connection, metered by tokens.',
    authenticateFrom: ['bearer'],
    protocols: [],
    envelope: 'openai',
    providerKey: 'optional',
    open(context) {
      const { admit, admitPooled, caller, log, requestId } = context;
      const buyer = { ...readSocketBuyer(context, undefined), admitPooled };
      const connection = new ResponseConnection(
        {
          admit,
          clock,
          log,
          responses,
          remembered,
          declinedEvent,
          read: readMessage,
          refusedEvent: (thrown) => {
            refusals?.note({ agentId: caller.agentId, requestId }, thrown);
            return refusedEvent(thrown, log);
          },
        },
        buyer,
      );
      return limitedMessages(connection, clock);
    },
  });
};

const Message = ResponsesRequest.extend({ ...ROUTING_PREFERENCES, usage: USAGE_PREFERENCE });

/** Parses a message within the bounds of a request body. Throws the refusal of a message that requests no response. */
async function readMessage(text: string): Promise<AskedResponse> {
  const bytes = Buffer.from(text);
  const message = await parseJsonInTurns(bytes, MODEL_LIMITS.chat.json).catch(
    (problem: unknown) => {
      const isComplex = problem instanceof JsonTooComplex;
      throw refused(isComplex ? `The message ${problem.message}.` : 'A message is JSON text.', '');
    },
  );
  if (!isObject(message) || message.type !== 'response.create') {
    throw refused('must be "response.create"', 'type');
  }
  const asked = servedMembers(message);
  const shaped = parseShape(Message, asked, 'openai') as ReturnType<typeof Message.parse>;
  if (bytes.length > JSON_LIMITS.bytesPerTurn) await turnForLongWork();
  const { max_price, models, provider, usage, ...body } = shaped;
  const tellsCost = usage?.include === true;
  return { body, tellsCost, preferences: readPreferences({ max_price, models, provider }) };
}

/** Returns the members that a message has in common with an HTTP request. Throws the refusal of members that are not served. */
function servedMembers({ generate, stream_id: streamId, type: _, ...rest }: Json): Json {
  if (generate === false) throw refused('must not be false: every message is answered', 'generate');
  if (streamId !== undefined && streamId !== null) {
    throw refused('is not served: a connection answers one request at a time', 'stream_id');
  }
  return rest;
}

const refused = (message: string, param: string): Error =>
  refuseInput([{ path: param === '' ? [] : [param], message, code: 'invalid_message' }], 'openai');

/** Returns the `error` event of OpenAI's connections: the status, and the error object of the response over HTTP. */
function errorEvent(status: number, body: string): string {
  const { error } = JSON.parse(body) as { error?: Json };
  return JSON.stringify({ type: 'error', status, error });
}

function refusedEvent(thrown: unknown, log: Log): string {
  const { body, status } = renderError(thrown, 'openai', () => log);
  return errorEvent(status, String(body));
}

/** Returns the error event for an upstream's refusal, whose body may be anything. */
function declinedEvent({ body, status }: Relayed): string {
  const text = Buffer.from(body).toString('utf8');
  try {
    return errorEvent(status, text);
  } catch {
    const error = { message: text.slice(0, 1_000), type: 'upstream_error', code: 'declined' };
    return JSON.stringify({ type: 'error', status, error });
  }
}
