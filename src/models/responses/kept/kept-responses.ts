import type { Clock } from '../../../kernel/clock.ts';
import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { isLongJson } from '../../../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { writeJsonInTurns } from '../../../kernel/json/write-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { joinPieces, turnForLongWork } from '../../../kernel/long-work.ts';
import type { Random } from '../../../kernel/random.ts';
import { openSealed, seal } from '../../../kernel/seal.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { responseErrors } from '../errors.ts';
import { RESPONSES_LIMITS } from '../limits.ts';
import type { InputItem } from '../responses-request.ts';
import { ResponseInserts } from './response-inserts.ts';
import {
  deleteResponse,
  findChain,
  findHolders,
  findSealed,
  type ResponseRef,
  renewResponses,
} from './response-store.ts';
import { ResponseTrimmer } from './trim-responses.ts';

/** Stored response, with the input of its own request. */
export type Kept = {
  readonly response: Json;
  readonly input: readonly InputItem[];
};

export type ToKeep = Kept & {
  /** Id of the stored response that this one continues. Null when its input is the whole conversation. */
  readonly previousId: string | null;
  /** JSON of the response, which may have members beyond those of `response`. */
  readonly written: Buffer;
};

/** Items of a conversation up to the end of a response, in order, and their bytes as they are kept. */
export type KeptConversation = {
  readonly items: readonly InputItem[];
  readonly bytes: number;
};

/** Stored responses, encrypted at rest, which agents can read and continue. Each agent sees only its own. */
export interface KeptResponses {
  /** False when this server has no secret for the encryption, or stores responses for 0 days. */
  readonly isOpen: boolean;
  /**
   * Stores a response. Resolves to false when it is too long or could not be stored. Never rejects, because the answer is
   * already paid and is sent in any case.
   */
  keep(agentId: number, kept: ToKeep): Promise<boolean>;
  find(agentId: number, id: string): Promise<Kept | undefined>;
  /** Deletes a response. Resolves to false when there is none. */
  remove(agentId: number, id: string): Promise<boolean>;
  /** Returns the conversation up to a response. Throws the refusal when a part of it is missing, or it is too long. */
  conversation(agentId: number, id: string): Promise<KeptConversation>;
  /**
   * Returns the latest items of the conversation, back to the first missing part. Empty when the response itself is missing.
   */
  rest(agentId: number, id: string): Promise<readonly InputItem[]>;
  /**
   * Finds output items of kept responses by their ids. Throws the refusal of the first missing item, and of responses that
   * together with `besideBytes` are longer than `RESPONSES_LIMITS.kept.conversationBytes`.
   */
  items(
    agentId: number,
    ids: readonly string[],
    besideBytes?: number,
  ): Promise<ReadonlyMap<string, InputItem>>;
}

type Deps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Value of PROVIDER_KEY_SECRET. Undefined: no response is stored. */
  readonly sealingSecret: string | undefined;
  /** Days after its last use for which a response is kept; 0 keeps nothing. */
  readonly keptDays: number;
};

/** Store that keeps nothing: this server has no secret, or keeps responses for 0 days. */
const NOTHING: KeptResponses = {
  isOpen: false,
  keep: async () => false,
  find: async () => undefined,
  remove: async () => false,
  conversation: async (_, id) => {
    throw responseErrors.previousNotFound(id);
  },
  rest: async () => [],
  items: async (_, [id = '']) => {
    throw responseErrors.itemNotFound(id);
  },
};

export function createKeptResponses({
  clock,
  keptDays,
  log,
  random,
  sealingSecret: secret,
  sql,
}: Deps): KeptResponses {
  if (secret === undefined || keptDays === 0) return NOTHING;
  const inserts = new ResponseInserts({ sql, clock });
  const trimmer = new ResponseTrimmer(sql);

  async function open(agentId: number, id: string, sealed: Uint8Array): Promise<Kept> {
    await turnForLongWork();
    const bytes = openSealed(secret as string, placeOf(agentId, id), sealed);
    const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return (await parseJsonInTurns(json, JSON_LIMITS.upstream)) as Kept;
  }

  /** Opens the sealed rows. A row that was sealed under another secret is left out. */
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

  /** Reads the items of a chain of responses, latest response first in `chain`, back to the first that cannot be opened. */
  async function openChain(agentId: number, chain: readonly ResponseRef[]) {
    const ids = chain.map((row) => row.id);
    const opened = await openAll(agentId, ids);
    const gone = ids.findIndex((id) => !opened.has(id));
    const items: InputItem[] = [];
    for (const id of (gone === -1 ? ids : ids.slice(0, gone)).reverse()) {
      const { input = [], response = {} } = opened.get(id) ?? {};
      for (const item of input) items.push(item);
      for (const item of outputOf(response)) items.push(item);
    }
    return { items, isWhole: gone === -1 };
  }

  /** Deletes older responses in the background. A failure does not affect the response that was stored. */
  function trim(agentId: number, addedBytes: number): void {
    trimmer.added(agentId, addedBytes).catch((err: unknown) => {
      log.error({ err, agentId }, 'old responses could not be trimmed');
    });
  }

  /** Extends the expiry of responses that were read. A failure does not affect the answer. */
  async function renew(agentId: number, ids: readonly string[]): Promise<void> {
    try {
      await renewResponses(sql, agentId, ids, keptDays);
    } catch (err) {
      log.error({ err, agentId }, 'the use of responses could not be noted');
    }
  }

  return {
    isOpen: true,

    async keep(agentId, { input, previousId, response, written }) {
      const id = String(response.id);
      try {
        const bytes = await writeKept(written, input);
        if (bytes.length > RESPONSES_LIMITS.kept.bytes) return false;
        if (isLongJson(bytes)) await turnForLongWork();
        const sealed = seal(secret, placeOf(agentId, id), bytes, random);
        // An upstream may send any value as an id. An item whose id is no text cannot be found by its id.
        const itemIds = outputOf(response).flatMap(({ id: of }) => (isText(of) ? [of] : []));
        await inserts.insert({ id, agentId, previousId, itemIds, sealed, keptDays });
        trim(agentId, sealed.length);
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
      if (chain.at(-1)?.previousId !== null) throw responseErrors.previousNotFound(id);
      const bytes = requireShort(chain);
      const { isWhole, items } = await openChain(agentId, chain);
      if (!isWhole) throw responseErrors.previousNotFound(id);
      const ids = chain.map((row) => row.id);
      await renew(agentId, ids);
      return { bytes, items };
    },

    async rest(agentId, id) {
      const chain = await findChain(sql, agentId, id);
      requireShort(chain);
      return (await openChain(agentId, chain)).items;
    },

    async items(agentId, ids, besideBytes = 0) {
      const holders = await findHolders(sql, agentId, ids);
      const rows = new Map(holders.map((row) => [row.id, row]));
      requireShort([...rows.values()], besideBytes);
      const found = new Map<string, InputItem>();
      for (const { response } of (await openAll(agentId, [...rows.keys()])).values()) {
        for (const item of outputOf(response)) found.set(String(item.id), item);
      }
      const missing = ids.find((id) => !found.has(id));
      if (missing !== undefined) throw responseErrors.itemNotFound(missing);
      await renew(agentId, [...rows.keys()]);
      return found;
    },
  };
}

/** Returns the JSON of a kept response and its input. */
async function writeKept(written: Buffer, input: readonly InputItem[]): Promise<Buffer> {
  return joinPieces([BEGIN, written, BETWEEN, ...(await writeJsonInTurns(input)), END]);
}

const BEGIN = Buffer.from('{"response":');
const BETWEEN = Buffer.from(',"input":');
const END = Buffer.from('}');

const isText = (value: unknown): value is string => typeof value === 'string';

/** Associated data of a sealed response, so that it opens for no other agent and under no other id. */
const placeOf = (agentId: number, id: string): string =>
  JSON.stringify(['model response', agentId, id]);

/** Returns the items of a response's output. They are valid input items as well. */
export const outputOf = ({ output }: Json): InputItem[] =>
  Array.isArray(output) ? (output.filter(isObject) as InputItem[]) : [];

/** Returns the sum of the rows' bytes and `besideBytes`. Throws the refusal when it exceeds the bound of a conversation. */
function requireShort(rows: readonly Pick<ResponseRef, 'bytes'>[], besideBytes = 0): number {
  const { conversationBytes } = RESPONSES_LIMITS.kept;
  const bytes = rows.reduce((sum, row) => sum + row.bytes, besideBytes);
  if (bytes > conversationBytes) throw responseErrors.conversationTooLong(conversationBytes);
  return bytes;
}
