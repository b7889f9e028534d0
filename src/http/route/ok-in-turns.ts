import { writeWhole } from '../../kernel/json/write-json.ts';
import { JSON_HEADERS } from './answer.ts';
import { ok, type RouteReply } from './route.ts';

/** Returns a reply with JSON that may have very many parts, written over several turns of the event loop. */
export const okInTurns = async (body: unknown): Promise<RouteReply> =>
  ok(await writeWhole(body), JSON_HEADERS);
