import { errors } from '../../../kernel/errors.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import type { Log } from '../../../kernel/log.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import type { Random } from '../../../kernel/random.ts';
import { openSealed, seal } from '../../../kernel/seal.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import type { InputItem } from '../responses-request.ts';
import {
  deleteResponse,
  findChain,
  findHolders,
  findSealed,
  insertResponse,
  type ResponseRef,
  renewResponses,
} from './response-store.ts';

/** A response, and what its own request said. */
export type Kept = {
  readonly response: Json;
  readonly input: readonly InputItem[];
};

/** Responses that agents read again and continue, sealed at rest; each agent sees its own alone. */
export interface KeptResponses {
  /** False: this server has no secret to seal with, or is to keep nothing. */
  readonly isOpen: boolean;
  /** False: it is too long, or could not be kept. Never rejects: the answer is paid for and goes out. */
  keep(agentId: number, kept: Kept): Promise<boolean>;
  find(agentId: number, id: string): Promise<Kept | undefined>;
  /** False: there is none. */
  remove(agentId: number, id: string): Promise<boolean>;
  /** All that was said up to the end of a response, in its order. Throws the refusal where a part of it is gone, or too long. */
  conversation(agentId: number, id: string): Promise<InputItem[]>;
  /** Items of the outputs of responses, by their ids. Throws the refusal of the first that is gone. */
  items(agentId: number, ids: readonly string[]): Promise<ReadonlyMap<string, InputItem>>;
}

type Deps = {
  readonly sql: Sql;
  readonly random: Random;
  readonly log: Log;
  /** PROVIDER_KEY_SECRET; without it nothing is kept. */
  readonly sealingSecret: string | undefined;
  /** How long one is kept behind its last use; 0 keeps nothing. */
  readonly keptDays: number;
};

/** What is kept without a secret, or for no time. */
const NOTHING: KeptResponses = {
  isOpen: false,
  keep: async () => false,
  find: async () => undefined,
  remove: async () => false,
  conversation: async (_, id) => {
    throw errors.responses.previousNotFound(id);
  },
  items: async (_, [id = '']) => {
    throw errors.responses.itemNotFound(id);
  },
};

export function createKeptResponses({
  keptDays,
  log,
  random,
  sealingSecret: secret,
  sql,
}: Deps): KeptResponses {
  if (secret === undefined || keptDays === 0) return NOTHING;

  async function open(agentId: number, id: string, sealed: Uint8Array): Promise<Kept> {
    await turnForLongWork();
    const bytes = openSealed(secret as string, placeOf(agentId, id), sealed);
    const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return (await parseJsonInTurns(json, LIMITS.upstreamJson)) as Kept;
  }

  /** Those of the rows that open; one that was sealed under another secret reads as absent. */
  async function openAll(agentId: number, ids: readonly string[]): Promise<Map<string, Kept>> {
    const opened = new Map<string, Kept>();
    const sealed = await findSealed(sql, agentId, ids);
    for (const id of ids) {
      const bytes = sealed.get(id);
      if (bytes === undefined) continue;
      try {
        opened.set(id, await open(agentId, id, bytes));
      } catch (err) {
        log.error({ err, agentId }, 'a response was sealed under another secret');
      }
    }
    return opened;
  }

  return {
    isOpen: true,

    async keep(agentId, kept) {
      const { response } = kept;
      const id = String(response.id);
      try {
        await turnForLongWork();
        const bytes = Buffer.from(JSON.stringify(kept));
        if (bytes.length > LIMITS.responses.keptBytes) return false;
        await turnForLongWork();
        const sealed = seal(secret, placeOf(agentId, id), bytes, random);
        const { previous_response_id: previous } = response;
        const previousId = typeof previous === 'string' ? previous : null;
        const itemIds = outputOf(response).flatMap(({ id: of }) => of ?? []);
        await insertResponse(sql, { id, agentId, previousId, itemIds, sealed, keptDays });
        return true;
      } catch (err) {
        log.error({ err, agentId }, 'a response could not be kept');
        return false;
      }
    },

    find: async (agentId, id) => (await openAll(agentId, [id])).get(id),
    remove: (agentId, id) => deleteResponse(sql, agentId, id),

    async conversation(agentId, id) {
      const chain = await findChain(sql, agentId, id);
      if (chain.at(-1)?.previousId !== null) throw errors.responses.previousNotFound(id);
      requireShort(chain);
      const ids = chain.map((row) => row.id);
      const opened = await openAll(agentId, ids);
      const items: InputItem[] = [];
      for (const part of ids.reverse()) {
        const kept = opened.get(part);
        if (kept === undefined) throw errors.responses.previousNotFound(id);
        for (const item of kept.input) items.push(item);
        for (const item of outputOf(kept.response)) items.push(item);
      }
      await renewResponses(sql, agentId, ids, keptDays);
      return items;
    },

    async items(agentId, ids) {
      const holders = await findHolders(sql, agentId, ids);
      const rows = new Map(holders.map((row) => [row.id, row]));
      requireShort([...rows.values()]);
      const found = new Map<string, InputItem>();
      for (const { response } of (await openAll(agentId, [...rows.keys()])).values()) {
        for (const item of outputOf(response)) found.set(String(item.id), item);
      }
      const missing = ids.find((id) => !found.has(id));
      if (missing !== undefined) throw errors.responses.itemNotFound(missing);
      await renewResponses(sql, agentId, [...rows.keys()], keptDays);
      return found;
    },
  };
}

/** Where a sealed response belongs: it opens for no other agent and under no other id. */
const placeOf = (agentId: number, id: string): string =>
  JSON.stringify(['model response', agentId, id]);

/** The items of a response's output, which are items of an input as well. */
const outputOf = ({ output }: Json): InputItem[] =>
  Array.isArray(output) ? (output.filter(isObject) as InputItem[]) : [];

function requireShort(rows: readonly Pick<ResponseRef, 'bytes'>[]): void {
  const { conversationBytes } = LIMITS.responses;
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  if (bytes > conversationBytes) throw errors.responses.conversationTooLong(conversationBytes);
}
