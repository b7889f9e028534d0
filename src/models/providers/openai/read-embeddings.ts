import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import type { VectorEncoding } from '../embedding-rail.ts';
import { cutList, joinList } from '../local/cut-list.ts';
import { takeTurns } from '../local/take-turns.ts';
import { encodingOf, recodeVector } from '../local/vector-encoding.ts';
import { tokenCount } from '../token-count.ts';
import { renameModel } from './rename-model.ts';

type Read = { readonly body: Buffer; readonly promptTokens: number | null };

/**
 * Reads the list of vectors in a 2xx answer. Returns the bytes unchanged if its vectors have the requested encoding, else
 * rewritten. Undefined when the body is no list, or has not one vector for each input.
 */
export async function readEmbeddings(
  body: Buffer,
  wanted: {
    readonly encoding: VectorEncoding;
    readonly count: number;
    readonly servedAs?: string | undefined;
  },
): Promise<Read | undefined> {
  const cut = await cutList(body);
  if (cut === undefined || cut.items.length !== wanted.count) return undefined;
  const { items } = cut;
  // The tail begins two levels deep, inside the object and its list.
  const head = renameModel(cut.head, wanted.servedAs);
  const tail = renameModel(cut.tail, wanted.servedAs, 2);
  const frame = parse(Buffer.concat([head, tail]));
  const given = encodingOf(parse(items[0])?.embedding);
  if (!Array.isArray(frame?.data) || given === undefined) return undefined;
  const promptTokens = readPromptTokens(frame.usage);
  const isAsItCame = head === cut.head && tail === cut.tail;
  if (given === wanted.encoding && isAsItCame) return { body, promptTokens };
  if (given === wanted.encoding) return { body: joinList({ head, items, tail }), promptTokens };
  const rewritten = await recodeItems(items, wanted.encoding);
  if (rewritten === undefined) return undefined;
  return { body: joinList({ head, items: rewritten, tail }), promptTokens };
}

async function recodeItems(
  items: readonly Buffer[],
  wanted: VectorEncoding,
): Promise<Buffer[] | undefined> {
  const turn = takeTurns();
  const rewritten: Buffer[] = [];
  for (const item of items) {
    const parsed = parse(item);
    const embedding = recodeVector(parsed?.embedding, wanted);
    if (embedding === undefined) return undefined;
    const text = Buffer.from(JSON.stringify({ ...parsed, embedding }));
    rewritten.push(text);
    await turn(item.length + text.length);
  }
  return rewritten;
}

function parse(json: Buffer | undefined): Json | undefined {
  const parsed = json === undefined ? undefined : tryParseJson(json);
  return isObject(parsed) ? parsed : undefined;
}

/**
 * Reads the prompt tokens of a `usage`. Some vendors report only the total, which is the same because embeddings have no
 * output.
 */
function readPromptTokens(usage: unknown): number | null {
  if (!isObject(usage)) return null;
  return tokenCount(usage.prompt_tokens ?? usage.total_tokens) ?? null;
}
