import { writeJsonInTurns } from '../../kernel/json/write-json.ts';
import { joinPieces } from '../../kernel/long-work.ts';
import { JSON_HEADERS } from './answer.ts';
import { ok, type RouteReply } from './route.ts';

/** Answers with JSON that may have very many parts: it is written in turns of the event loop, which others share. */
export const okInTurns = async (body: unknown): Promise<RouteReply> =>
  ok(await joinPieces(await writeJsonInTurns(body)), JSON_HEADERS);
