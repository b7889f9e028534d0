import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import {
  createResponseForgetter,
  forgetResponsesAtClose,
} from '../../../src/models/responses/kept/forget-responses.ts';
import {
  createKeptResponses,
  type Kept,
} from '../../../src/models/responses/kept/kept-responses.ts';
import {
  deleteBeyondBounds,
  renewResponses,
} from '../../../src/models/responses/kept/response-store.ts';
import { RESPONSES_LIMITS } from '../../../src/models/responses/limits.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { seedAgent } from '../../support/ledger-world.ts';

/** First number of the advisory lock for trims. */
const TRIM_LOCK = 0x7265_7370;
const SECRET = 's'.repeat(32);
const { bytesPerAgent, bytes: keptBytes, perAgent } = RESPONSES_LIMITS.kept;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const keptWith = (
  /** None where it is empty. */
  sealingSecret = SECRET,
  keptDays = 30,
  sql: Sql = database.sql,
) => {
  const kept = createKeptResponses({
    sql,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    sealingSecret: sealingSecret || undefined,
    keptDays,
  });
  const keep = (agentId: number, what: Kept & { readonly previousId: string | null }) =>
    kept.keep(agentId, { ...what, written: Buffer.from(JSON.stringify(what.response)) });
  return { ...kept, keep };
};

let made = 0;
const said = (text: string) => ({ type: 'message', role: 'user', content: text });
const answered = (text: string, previous: string | null = null) => ({
  id: `resp_${++made}`,
  object: 'response',
  status: 'completed',
  previous_response_id: previous,
  output: [{ type: 'message', id: `msg_${made}`, role: 'assistant', content: text }],
});

/** Keeps a response, and answers with its id. */
async function keep(agentId: number, text: string, previous: string | null = null) {
  const response = answered(`${text}!`, previous);
  const kept = { response, input: [said(text)], previousId: previous };
  expect(await keptWith().keep(agentId, kept)).toBe(true);
  return response.id;
}

const count = async (agentId: number) => {
  const [row] = await database.sql<{ n: number }[]>`
    select count(*)::integer as n from model_responses where agent_id = ${agentId}`;
  return row?.n;
};

const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('kept responses', () => {
  it('a stored response is sealed: its row shows no text, and no other agent or secret opens it', async () => {
    const { agentId } = await seedAgent(database.sql);
    const other = await seedAgent(database.sql);
    const id = await keep(agentId, 'the words of a secret');
    const [row] = await database.sql<{ sealed: Buffer; text: string }[]>`
      select sealed, model_responses::text as text from model_responses where id = ${id}`;
    expect(row?.sealed.includes('secret')).toBe(false);
    expect(row?.text).not.toContain('secret');
    expect((await keptWith().find(agentId, id))?.input).toEqual([said('the words of a secret')]);
    expect(await keptWith().find(other.agentId, id)).toBeUndefined();
    expect(await keptWith('t'.repeat(32)).find(agentId, id)).toBeUndefined();
    // A row that is moved to another agent does not open there.
    await database.sql`update model_responses set agent_id = ${other.agentId} where id = ${id}`;
    expect(await keptWith().find(other.agentId, id)).toBeUndefined();
  });

  it('stored responses form a conversation in order, which breaks when one of them is deleted', async () => {
    const { agentId } = await seedAgent(database.sql);
    const first = await keep(agentId, 'one');
    const second = await keep(agentId, 'two', first);
    const third = await keep(agentId, 'three', second);
    const { bytes, items } = await keptWith().conversation(agentId, third);
    expect(bytes).toBeGreaterThan(3 * 16);
    expect(items.map(({ content }) => content)).toEqual([
      'one',
      'one!',
      'two',
      'two!',
      'three',
      'three!',
    ]);
    expect(await keptWith().remove(agentId, second)).toBe(true);
    expect(await keptWith().remove(agentId, second)).toBe(false);
    expect(await refusalOf(keptWith().conversation(agentId, third))).toMatchObject({
      status: 400,
      error: 'previous_response_not_found',
    });
    expect((await keptWith().conversation(agentId, first)).items).toHaveLength(2);
    // What is left of it can be listed.
    const left = await keptWith().rest(agentId, third);
    expect(left.map(({ content }) => content)).toEqual(['three', 'three!']);
    expect(await keptWith().rest(agentId, second)).toEqual([]);
  });

  it('a stored response finds its output items by their ids', async () => {
    const { agentId } = await seedAgent(database.sql);
    const id = await keep(agentId, 'x');
    const item = id.replace('resp', 'msg');
    expect((await keptWith().items(agentId, [item])).get(item)).toMatchObject({ content: 'x!' });
    expect(await refusalOf(keptWith().items(agentId, [item, 'msg_none']))).toMatchObject({
      status: 404,
      error: 'item_not_found',
    });
    const { conversationBytes } = RESPONSES_LIMITS.kept;
    expect(await refusalOf(keptWith().items(agentId, [item], conversationBytes))).toMatchObject({
      status: 400,
      error: 'conversation_too_long',
    });
  });

  it('an agent stores a bounded number of responses, and the least recently used are deleted first', async () => {
    const { agentId } = await seedAgent(database.sql);
    const other = await seedAgent(database.sql);
    const others = await keep(other.agentId, 'mine');
    await database.sql`
      insert into model_responses (id, agent_id, item_ids, bytes, sealed, expires_at)
      select 'resp_many_' || n, ${agentId}, '{}', 1, '\\x00', now() + n * interval '1 second'
      from generate_series(1, ${perAgent}) n`;
    const id = await keep(agentId, 'latest');
    await expect.poll(() => count(agentId)).toBe(perAgent);
    const oldest = await database.sql`select 1 from model_responses where id = 'resp_many_1'`;
    expect(oldest).toHaveLength(0);
    expect(await keptWith().find(agentId, id)).toBeDefined();
    expect(await keptWith().find(other.agentId, others)).toBeDefined();
  });

  it('a stored conversation in use survives the trimming of an agent’s responses, and unused ones are deleted', async () => {
    const { agentId } = await seedAgent(database.sql);
    const used = await keep(agentId, 'used');
    await database.sql`
      update model_responses set expires_at = expires_at - interval '1 hour' where id = ${used}`;
    await database.sql`
      insert into model_responses (id, agent_id, item_ids, bytes, sealed, expires_at)
      select 'resp_fresh_' || n, ${agentId}, '{}', 1, '\\x00',
        now() + interval '30 days' - interval '1 minute' - n * interval '1 millisecond'
      from generate_series(1, ${perAgent}) n`;
    await keptWith().conversation(agentId, used);
    await deleteBeyondBounds(database.sql, agentId);
    expect(await count(agentId)).toBe(perAgent);
    expect(await keptWith().find(agentId, used)).toBeDefined();
  });

  it('a stored response used while the trimming waits for a lock is not deleted', async () => {
    const { agentId } = await seedAgent(database.sql);
    await database.sql`
      insert into model_responses (id, agent_id, item_ids, bytes, sealed, expires_at)
      select 'resp_used_' || n, ${agentId}, '{}', 1, '\\x00', now() + n * interval '1 second'
      from generate_series(1, ${perAgent + 2}) n`;
    let trimmed: Promise<void> | undefined;
    await database.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${TRIM_LOCK}, ${agentId})`;
      trimmed = deleteBeyondBounds(database.sql, agentId);
      const waiting = () => tx`
        select 1 from pg_locks
        where locktype = 'advisory' and classid = ${TRIM_LOCK} and objid = ${agentId} and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      await expect.poll(waiting).toHaveLength(1);
      await renewResponses(database.sql, agentId, ['resp_used_1'], 30);
    });
    await trimmed;
    const left = await database.sql<{ id: string }[]>`
      select id from model_responses where id in ('resp_used_1', 'resp_used_2', 'resp_used_3')`;
    expect(left.map(({ id }) => id).sort()).toEqual(['resp_used_1', 'resp_used_3']);
  });

  it('an agent stores a bounded number of response bytes, and a response that is too long is not stored', async () => {
    const { agentId } = await seedAgent(database.sql);
    await database.sql`
      insert into model_responses (id, agent_id, item_ids, bytes, sealed, expires_at)
      values ('resp_large', ${agentId}, '{}', ${bytesPerAgent - 1}, '\\x00', now() + interval '1 day')`;
    const id = await keep(agentId, 'latest');
    await expect.poll(() => count(agentId)).toBe(1);
    expect(await keptWith().find(agentId, id)).toBeDefined();
    const response = answered('x'.repeat(keptBytes));
    expect(await keptWith().keep(agentId, { response, input: [], previousId: null })).toBe(false);
    expect(await count(agentId)).toBe(1);
  });

  it('a response is stored even when trimming the agent’s responses fails or never ends', async () => {
    const { agentId } = await seedAgent(database.sql);
    for (const trim of [
      () => Promise.reject(new Error('no connection is free')),
      () => new Promise(() => {}),
    ]) {
      const sql = new Proxy(database.sql, {
        apply: (of, self, given: [TemplateStringsArray, ...unknown[]]) =>
          given[0].join('').includes('delete from model_responses')
            ? trim()
            : Reflect.apply(of as (...all: unknown[]) => unknown, self, given),
      });
      const kept = keptWith(SECRET, 30, sql);
      const response = answered('x');
      expect(await kept.keep(agentId, { response, input: [], previousId: null })).toBe(true);
      expect(await kept.find(agentId, response.id)).toBeDefined();
    }
  });

  it('a response is stored whatever its upstream sends as item ids', async () => {
    const { agentId } = await seedAgent(database.sql);
    const item = { type: 'message', role: 'assistant', content: 'x' };
    const response = {
      ...answered('x'),
      output: [7, {}, null, 'own'].map((id) => ({ ...item, id })),
    };
    const kept = keptWith();
    expect(await kept.keep(agentId, { response, input: [], previousId: null })).toBe(true);
    expect(await kept.find(agentId, response.id)).toMatchObject({ response });
    expect((await kept.items(agentId, ['own'])).get('own')).toMatchObject(item);
  });

  it('concurrently stored responses stay within the agent’s byte limit', async () => {
    const { agentId } = await seedAgent(database.sql);
    const half = 'x'.repeat(keptBytes - 10_000);
    await database.sql`
      insert into model_responses (id, agent_id, item_ids, bytes, sealed, expires_at)
      values ('resp_base', ${agentId}, '{}', ${bytesPerAgent - 2 * keptBytes}, '\\x00', now() + interval '60 days')`;
    await Promise.all(
      Array.from({ length: 6 }, () =>
        keptWith().keep(agentId, { response: answered(half), input: [], previousId: null }),
      ),
    );
    await expect.poll(() => count(agentId)).toBe(3);
    const [row] = await database.sql<{ bytes: number }[]>`
      select sum(bytes)::float8 as bytes from model_responses where agent_id = ${agentId}`;
    expect(row?.bytes).toBeLessThanOrEqual(bytesPerAgent);
  });

  it('concurrent responses are stored in one statement, and a refused one does not fail the others', async () => {
    const statements: string[] = [];
    const counted = new Proxy(database.sql, {
      apply(sql, of, given: [TemplateStringsArray, ...unknown[]]) {
        statements.push(given[0].join('?'));
        return Reflect.apply(sql as (...all: unknown[]) => unknown, of, given);
      },
    });
    const { agentId } = await seedAgent(database.sql);
    const kept = keptWith(SECRET, 30, counted);
    const together = Array.from({ length: 40 }, (_, n) => answered(`answer ${n}`));
    const twice = together[7] as (typeof together)[number];
    const outcomes = await Promise.all(
      [...together, twice].map((response, n) =>
        kept.keep(agentId, { response, input: [said(`question ${n}`)], previousId: null }),
      ),
    );
    expect(outcomes).toEqual([...together.map(() => true), false]);
    expect(await count(agentId)).toBe(40);
    for (const [n, { id, output }] of together.entries()) {
      const found = await kept.find(agentId, id);
      expect(found).toMatchObject({ input: [said(`question ${n}`)], response: { output } });
    }
    const before = statements.length;
    const others = Array.from({ length: 40 }, (_, n) => answered(`other ${n}`));
    await Promise.all(
      others.map((response) => kept.keep(agentId, { response, input: [], previousId: null })),
    );
    const inserts = statements.slice(before).filter((text) => text.includes('insert into'));
    expect(inserts.length).toBeLessThan(10);
    expect(await count(agentId)).toBe(80);
  });

  it('a stored conversation longer than one request may read is refused', async () => {
    const { agentId } = await seedAgent(database.sql);
    const first = await keep(agentId, 'x');
    await database.sql`
      update model_responses set bytes = ${RESPONSES_LIMITS.kept.conversationBytes} where id = ${first}`;
    const second = await keep(agentId, 'y', first);
    expect(await refusalOf(keptWith().conversation(agentId, second))).toMatchObject({
      status: 400,
      error: 'conversation_too_long',
    });
  });

  it('a stored conversation whose previous ids form a ring is refused', async () => {
    const { agentId } = await seedAgent(database.sql);
    const first = await keep(agentId, 'x');
    const second = await keep(agentId, 'y', first);
    await database.sql`update model_responses set previous_id = ${second} where id = ${first}`;
    const error = await refusalOf(keptWith().conversation(agentId, second));
    expect(error).toMatchObject({ status: 400, error: 'previous_response_not_found' });
  });

  it('a stored response expires, and continuing it renews its time', async () => {
    const { agentId } = await seedAgent(database.sql);
    const used = await keep(agentId, 'used');
    const unused = await keep(agentId, 'unused');
    const day = 24 * 60 * 60 * 1_000;
    await database.sql`
      update model_responses set expires_at = now() + interval '1 day' where agent_id = ${agentId}`;
    await keptWith().conversation(agentId, used);
    const rows = await database.sql<{ id: string; at: Date }[]>`
      select id, expires_at as at from model_responses where agent_id = ${agentId}`;
    const left = new Map(rows.map(({ at, id }) => [id, at.getTime() - Date.now()]));
    expect(left.get(used)).toBeGreaterThan(29 * day);
    expect(left.get(unused)).toBeLessThan(2 * day);

    await database.sql`update model_responses set expires_at = now() where id = ${unused}`;
    expect(await keptWith().find(agentId, unused)).toBeUndefined();
    expect(await keptWith().remove(agentId, unused)).toBe(false);
    expect(await refusalOf(keptWith().conversation(agentId, unused))).toMatchObject({
      status: 400,
    });
    await createResponseForgetter(database).tick();
    expect(await count(agentId)).toBe(1);
  });

  it('closing an agent deletes its stored responses', async () => {
    const { agentId } = await seedAgent(database.sql);
    await keep(agentId, 'x');
    await database.sql.begin((tx) => forgetResponsesAtClose(tx, agentId));
    expect(await count(agentId)).toBe(0);
  });

  it('no response is stored for an agent that is closed or closing', async () => {
    const { agentId } = await seedAgent(database.sql);
    const late = () =>
      keptWith().keep(agentId, { response: answered('x'), input: [], previousId: null });
    let waiting: Promise<boolean> | undefined;
    await database.sql.begin(async (tx) => {
      await tx`update agents set status = 'closed' where id = ${agentId}`;
      await forgetResponsesAtClose(tx, agentId);
      waiting = late();
      await delay(100);
    });
    await waiting;
    await late();
    expect(await count(agentId)).toBe(0);
  });

  it('no response is stored without a secret, or with a retention of zero days', async () => {
    const { agentId } = await seedAgent(database.sql);
    for (const kept of [keptWith(''), keptWith(SECRET, 0)]) {
      expect(kept.isOpen).toBe(false);
      expect(
        await kept.keep(agentId, { response: answered('x'), input: [], previousId: null }),
      ).toBe(false);
      expect(await kept.find(agentId, 'resp_1')).toBeUndefined();
      expect(await kept.remove(agentId, 'resp_1')).toBe(false);
      expect(await refusalOf(kept.conversation(agentId, 'resp_1'))).toMatchObject({ status: 400 });
      expect(await refusalOf(kept.items(agentId, ['msg_1']))).toMatchObject({ status: 404 });
    }
    expect(await count(agentId)).toBe(0);
  });
});
