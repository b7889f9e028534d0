import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type Log, silentLog } from '../../../src/kernel/log.ts';
import { findTurns } from '../../../src/phone/calls/turn-store.ts';
import { createTurnWriter } from '../../../src/phone/calls/turn-writer.ts';
import { startCallWorld } from '../../support/call-world.ts';

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const answered = async () => (await world.call(await world.agent(), { answered: true })).callId;
const at = new Date(Date.UTC(2026, 0, 1));
const asked = (content: string) => ({ role: 'user', content, at }) as const;
const answer = (content: string, itemId: string) =>
  ({ role: 'assistant', content, at, itemId }) as const;

/** `breaksAfter`: the connection is lost behind so many statements, which the database has carried out. */
function createWriter({ breaksAfter }: { readonly breaksAfter?: number } = {}) {
  const warned: unknown[] = [];
  let statements = 0;
  const log = { ...silentLog, warn: (...args: unknown[]) => warned.push(args) } as unknown as Log;
  const sql = new Proxy(world.sql, {
    apply(target, self, args) {
      const isLost = ++statements === breaksAfter;
      const query = Reflect.apply(target, self, args);
      return isLost ? query.then(() => Promise.reject(new Error('CONNECTION_CLOSED'))) : query;
    },
  });
  const writer = createTurnWriter({ clock: systemClock, log, sql });
  return { writer, warned, statements: () => statements };
}

describe('the writer of what is said in calls', () => {
  it('the turn writer writes the turns of many calls in one statement, each call in its order', async () => {
    const { writer, statements } = createWriter();
    const callIds = [await answered(), await answered(), await answered()];
    const books = callIds.map((callId) => writer.of(callId));
    for (const n of [1, 2, 3]) for (const book of books) book.add(asked(`turn ${n}`));
    await Promise.all(books.map((book) => book.flushed()));
    expect(statements()).toBe(1);
    for (const callId of callIds) {
      const said = (await findTurns(world.sql, callId, 10)).map(({ content }) => content);
      expect(said).toEqual(['turn 1', 'turn 2', 'turn 3']);
    }
  });

  it('the turn writer appends to the turns of a call, and keeps the last report of what was heard of each turn', async () => {
    const callId = await answered();
    const { writer } = createWriter();
    const book = writer.of(callId);
    book.add(answer('one two three', 'item_1'));
    book.add(asked('stop'));
    book.add(answer('four five six', 'item_2'));
    book.heard('item_1', 'one two');
    book.heard('item_1', 'one');
    book.heard('item_of_nothing', 'never');
    await book.flushed();
    book.add(asked('and on'));
    book.heard('item_2', 'four');
    await book.flushed();
    expect((await findTurns(world.sql, callId, 10)).map(({ content }) => content)).toEqual([
      'one',
      'stop',
      'four',
      'and on',
    ]);
  });

  it('the turn writer loses only the turn that the database refuses, and reports it', async () => {
    const [callId, other] = [await answered(), await answered()];
    const { writer, warned } = createWriter();
    const [book, neighbour] = [writer.of(callId), writer.of(other)];
    book.add(asked('before'));
    book.add(asked('a \0 in the middle'));
    neighbour.add(asked('of another call'));
    book.add(asked('after'));
    await Promise.all([book.flushed(), neighbour.flushed()]);
    const said = async (id: string) =>
      (await findTurns(world.sql, id, 10)).map(({ content }) => content);
    expect(await said(callId)).toEqual(['before', 'after']);
    expect(await said(other)).toEqual(['of another call']);
    expect(warned).toHaveLength(1);
  });

  it('the turn writer writes no turn twice when the connection broke after the write', async () => {
    const callId = await answered();
    const { writer, warned } = createWriter({ breaksAfter: 1 });
    const book = writer.of(callId);
    book.add(asked('one'));
    book.add(asked('two'));
    await book.flushed();
    expect((await findTurns(world.sql, callId, 10)).map(({ content }) => content)).toEqual([
      'one',
      'two',
    ]);
    expect(warned).toHaveLength(1);
  });

  it('the turn writer writes soon after a turn, without an explicit flush', async () => {
    const callId = await answered();
    createWriter().writer.of(callId).add(asked('hello'));
    await expect.poll(() => findTurns(world.sql, callId, 10)).toHaveLength(1);
  });

  it('the turn writer keeps no more than 64 waiting turns of a call', async () => {
    const callId = await answered();
    const book = createWriter().writer.of(callId);
    for (let n = 0; n < 100; n++) book.add(asked(`turn ${n}`));
    await book.flushed();
    expect(await findTurns(world.sql, callId, 200)).toHaveLength(64);
  });
});
