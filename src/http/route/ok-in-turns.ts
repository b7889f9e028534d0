import { writeWhole } from '../../kernel/json/write-json.ts';
import { JSON_HEADERS } from './answer.ts';
import { ok, type RouteReply } from './route.ts';

/** Answers with JSON that may have very many parts: it is written in turns of the event loop, which others share. */
export const okInTurns = async (body: unknown): Promise<RouteReply> =>
  ok(await writeWhole(body), JSON_HEADERS);
