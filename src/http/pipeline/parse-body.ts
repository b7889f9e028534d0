import { isLongJson } from '../../kernel/json/parse-json.ts';
import { joinPieces, turnForLongWork } from '../../kernel/long-work.ts';
import type { BodyReading } from '../body/body.ts';
import type { BodyBreak, BodyStream } from '../body/body-stream.ts';
import { BadCoding, type Coding, codingOf, decoded } from '../body/content-coding.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { requestErrors } from '../route/errors.ts';
import type { AnyRoute } from '../route/route.ts';
import type { Exchange } from './exchange.ts';
import { decodeJson, parseShape, refuseInput } from './parse-input.ts';

/** Thrown when the client left while its body was still arriving; there is no connection to answer on. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/** Reads the body of a request in the form that its route takes, any Content-Encoding undone. Throws the refusal. */
export async function parseBody({ route, body, request }: Exchange): Promise<unknown> {
  if (body === undefined) return undefined;
  if ('given' in body) return parseShape(route.body, body.given, route.envelope ?? 'flat');
  const coding = codingOf(request.headers.get('content-encoding'));
  if ('chunks' in body) {
    const chunks = body.chunks((how) => refusalOf(route, how));
    return coding === undefined ? chunks : undone(route, body, chunks, coding);
  }
  const read = await body.body;
  if (read.kind !== 'whole') throw refusalOf(route, read.kind);
  const bytes =
    coding === undefined ? read.bytes : await gathered(undone(route, body, [read.bytes], coding));
  const value = await decodeJson(route, bytes);
  const shaped = parseShape(route.body, value, route.envelope ?? 'flat');
  if (isLongJson(bytes)) await turnForLongWork();
  return shaped;
}

/** Decodes the bytes of a body. Decoded bytes have the route's bounds and count in the body budget, like the received bytes. */
async function* undone(
  route: AnyRoute,
  body: BodyReading | BodyStream,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  coding: Coding,
): AsyncGenerator<Buffer> {
  const limitBytes = bodyLimit(route);
  let bytes = 0;
  const onBytes = (more: number) => {
    bytes += more;
    if (bytes > limitBytes) throw refusalOf(route, 'too_large');
    const over = body.hold(more);
    if (over !== undefined) throw refusalOf(route, over);
  };
  try {
    yield* decoded(pieces, coding, onBytes);
  } catch (error) {
    if (!(error instanceof BadCoding)) throw error;
    const message = `is not ${coding}, as its Content-Encoding says; send it as it is without one`;
    const detail = { path: [], message: `The body ${message}.`, code: 'invalid_content_encoding' };
    throw refuseInput([detail], route.envelope ?? 'flat');
  }
}

async function gathered(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return joinPieces(all);
}

function refusalOf(route: AnyRoute, how: BodyBreak): Error {
  switch (how) {
    case 'gone':
      return new ClientGoneError('the client left before its body had arrived');
    case 'overloaded':
      return requestErrors.overloaded();
    case 'crowded':
      return requestErrors.bodiesInFlight(HTTP_LIMITS.body.bytesPerCaller);
    case 'too_large':
      return requestErrors.payloadTooLarge(bodyLimit(route));
  }
}

export const bodyLimit = (route: AnyRoute): number =>
  route.maxBodyBytes ?? HTTP_LIMITS.body.jsonBytes;
