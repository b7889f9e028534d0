import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MARKETPLACE_LIMITS } from '../../../src/marketplace/limits.ts';
import {
  expectEnded,
  HELD,
  PRICE,
  readJobOf,
  resultOf,
} from '../../support/vendors/document-checks.ts';
import { asUsual, type DocumentFault } from '../../support/vendors/document-peer.ts';
import { type DocumentWorld, startDocumentWorld } from '../../support/vendors/document-world.ts';
import { KEY } from '../../support/vendors/vendor-peer.ts';
import { zipOf } from '../../support/zip.ts';

let world: DocumentWorld;
beforeAll(async () => {
  // Some questions here are never answered.
  world = await startDocumentWorld(1_500);
});
afterEach(() => asUsual(world.peer));
afterAll(() => world[Symbol.asyncDispose]());

describe('a vendor', () => {
  it.each([
    ['create', 500, 500],
    ['create', 422, 422],
    ['create', 401, 503],
    ['links', 503, 503],
    ['upload', 403, 502],
  ] as const)(
    'a document vendor that answers step %s with %i before the job is accepted costs nothing',
    async (step, status, shown) => {
      const agent = await world.agent();
      world.peer.faults.push({ step, kind: 'status', status });
      const told = await world.submit(agent).catch((refusal) => refusal);
      expect(told.status).toBe(shown);
      expect(Buffer.from(told.body ?? '').toString() + told.message).not.toContain(KEY);
      await expectEnded(world, agent, 0n, []);
    },
  );

  it.each(['create', 'links', 'upload'] as const)(
    'a document vendor that is silent or breaks off at step %s costs nothing',
    async (step) => {
      for (const kind of ['silence', 'cut'] as const) {
        const agent = await world.agent();
        world.peer.faults.push({ step, kind });
        await expect(world.submit(agent)).rejects.toMatchObject({ status: 502 });
        await expectEnded(world, agent, 0n, []);
      }
    },
  );

  it.each([
    ['start', { kind: 'status', status: 429 }],
    ['start', { kind: 'lost' }],
    ['status', { kind: 'status', status: 500 }],
    ['status', { kind: 'status', status: 429 }],
    ['status', { kind: 'cut' }],
    ['results', { kind: 'status', status: 503 }],
    ['results', { kind: 'silence' }],
    ['fetch', { kind: 'status', status: 404 }],
    ['fetch', { kind: 'cut' }],
  ] as const)(
    'a document vendor that fails at step %s for a while (%j) is retried, started once, and paid once',
    async (step, fault) => {
      const agent = await world.agent();
      await world.submit(agent);
      world.peer.faults.push({ step, ...fault } as DocumentFault);
      await world.finish();
      expect(world.peer.jobs.at(-1)?.starts).toBe(1);
      await expectEnded(world, agent, PRICE[3], ['completed']);
    },
  );

  it.each([
    ['refuses the document', 422, 'vendor_refused'],
    ['refuses the account', 403, 'vendor_unavailable'],
  ] as const)(
    'a document vendor that %s at the start fails the job for nothing',
    async (_, status, code) => {
      const agent = await world.agent();
      const { jobId } = resultOf(await world.submit(agent));
      world.peer.faults.push({ step: 'start', kind: 'status', status });
      await world.finish();
      expect(await readJobOf(world, agent, jobId)).toMatchObject({
        status: 'failed',
        costRaw: '0',
        error: { code },
      });
      await expectEnded(world, agent, 0n, ['failed']);
    },
  );

  it('a document vendor that does not confirm the start is not started again, and the job fails', async () => {
    const agent = await world.agent();
    const { jobId } = resultOf(await world.submit(agent));
    world.peer.faults.push({ step: 'start', kind: 'silence' });
    await world.main.step();
    await world.main.step();
    expect(await readJobOf(world, agent, jobId)).toMatchObject({
      status: 'running',
      costRaw: null,
    });
    await world.sql`update marketplace_jobs set started_at = started_at - interval '3 minutes'`;
    await world.main.step();
    expect(await readJobOf(world, agent, jobId)).toMatchObject({
      error: { code: 'start_undecided' },
    });
    expect(world.peer.jobs.at(-1)?.starts).toBe(0);
    await expectEnded(world, agent, 0n, ['failed']);
  });

  it('a failed document job carries the vendor’s reason, without the key of the operator', async () => {
    const agent = await world.agent();
    world.peer.does.fails = `Unreadable, says ${KEY}`;
    const { jobId } = resultOf(await world.submit(agent));
    await world.finish();
    expect((await readJobOf(world, agent, jobId)).error).toEqual({
      code: 'vendor_failed',
      message: 'Unreadable, says ***',
    });
    await expectEnded(world, agent, 0n, ['failed']);
  });

  it('a vendor’s reason for a failed document job is cut to what the database can store', async () => {
    const agent = await world.agent();
    world.peer.does.fails = `No\0${'a'.repeat(196)}🔑 and more`;
    const { jobId } = resultOf(await world.submit(agent));
    await world.finish();
    expect((await readJobOf(world, agent, jobId)).error).toEqual({
      code: 'vendor_failed',
      message: `No${'a'.repeat(196)}`,
    });
    await expectEnded(world, agent, 0n, ['failed']);
  });

  it('a document job that the vendor never ends fails after half an hour, and its hold is released', async () => {
    const agent = await world.agent();
    world.peer.does.neverEnds = true;
    const { jobId } = resultOf(await world.submit(agent));
    for (let looks = 0; looks < 5; looks++) await world.main.step();
    expect(await world.money(agent)).toMatchObject({ held: HELD });
    await world.sql`update marketplace_jobs set deadline_at = now() where id = ${jobId}`;
    await world.main.step();
    expect((await readJobOf(world, agent, jobId)).error.code).toBe('timed_out');
    await expectEnded(world, agent, 0n, ['failed']);
  });

  it.each([
    ['delivers a part', { delivers: 2, says: 2 }, 2, undefined],
    ['names more pages than it delivers', { delivers: 2, says: 3 }, 2, ['2 pages', '3 pages']],
    ['names fewer pages than it delivers', { delivers: 3, says: 1 }, 1, ['3 pages', '1 pages']],
    [
      'delivers more pages than are held',
      { delivers: 12, says: 12, total: 12 },
      10,
      ['at most 10 pages', '12 pages'],
    ],
    ['tells no count', { delivers: 2, says: undefined }, 2, undefined],
    ['has no layout of pages', { delivers: 0, says: 3 }, 3, undefined],
  ] as const)(
    'a document vendor that %s is paid for the pages that both its count and its archive have',
    async (_, does, pages, told) => {
      const agent = await world.agent();
      Object.assign(world.peer.does, does);
      const { jobId } = resultOf(await world.submit(agent));
      await world.finish();
      expect((await readJobOf(world, agent, jobId)).pages.delivered).toBe(pages);
      await expectEnded(world, agent, PRICE[pages], ['completed']);
      const { events } = await world.traces(agent);
      const [tripwire] = events.filter(({ name }) => name === 'marketplace.tripwire.triggered');
      const { expected, observed } = tripwire?.payload ?? {};
      expect(tripwire && [expected, observed]).toEqual(told);
    },
  );

  it('a document vendor that finds more pages than we counted is paid for all of them', async () => {
    const agent = await world.agent();
    Object.assign(world.peer.does, { delivers: 9, says: 9, total: 9 });
    const decoy = '%PDF-1.4\n1 0 obj << /Type /Page >> endobj 2 0 obj << /Type /#50age >> endobj';
    const body = { documentBase64: Buffer.from(decoy).toString('base64') };
    const { jobId } = resultOf(await world.submit(agent, body));
    await world.finish();
    expect((await readJobOf(world, agent, jobId)).pages).toMatchObject({ held: 10, delivered: 9 });
    await expectEnded(world, agent, PRICE[9], ['completed']);
  });

  it.each([
    ['no archive', Buffer.from('<Error/>'), 'unreadable_result'],
    ['an archive without the text', zipOf({ 'a.bin': 'a' }), 'unreadable_result'],
    [
      'an archive that is too large',
      Buffer.alloc(MARKETPLACE_LIMITS.documents.archiveBytes + 1),
      'unreadable_result',
    ],
    [
      'a text that is too large',
      zipOf({ 'document.md': Buffer.alloc(MARKETPLACE_LIMITS.documents.textBytes + 1) }),
      'unreadable_result',
    ],
  ] as const)('a document vendor that delivers %s is not paid', async (_, archive, code) => {
    const agent = await world.agent();
    world.peer.does.archive = archive;
    const { jobId } = resultOf(await world.submit(agent));
    await world.finish();
    expect((await readJobOf(world, agent, jobId)).error.code).toBe(code);
    await expectEnded(world, agent, 0n, ['failed']);
  });

  it('a document vendor that delivers no page is not paid', async () => {
    const agent = await world.agent();
    Object.assign(world.peer.does, { delivers: 0, says: 0 });
    await world.submit(agent);
    await world.finish();
    await expectEnded(world, agent, 0n, ['failed']);
  });

  it('a document vendor’s storage address inside the network is not followed', async () => {
    const agent = await world.agent();
    world.peer.does.storage = 'http://10.0.0.1';
    await expect(world.submit(agent)).rejects.toMatchObject({ status: 502 });
    await expectEnded(world, agent, 0n, []);
  });
});
