import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createIdempotencyKeys } from '../../../src/idempotency/idempotency-store.ts';
import { LIMITS } from '../../../src/kernel/limits.ts';
import type { JobPoint } from '../../../src/marketplace/documents/job-deps.ts';
import type { MarketAnswer } from '../../../src/payments/proxy/marketplace.ts';
import { pdfOf } from '../../support/pdf.ts';
import { archiveOf, asUsual, type DocumentFault } from '../../support/vendors/document-peer.ts';
import {
  type DocumentAgent,
  type DocumentWorld,
  startDocumentWorld,
} from '../../support/vendors/document-world.ts';
import { KEY } from '../../support/vendors/vendor-peer.ts';
import { zipOf } from '../../support/zip.ts';

let world: DocumentWorld;
beforeAll(async () => {
  world = await startDocumentWorld();
});
afterEach(() => asUsual(world.peer));
afterAll(() => world[Symbol.asyncDispose]());

/** Half a rupee a page at 83 for a dollar, and 5 %: 6325.30185 raw a page. */
const PRICE = [0n, 6_326n, 12_651n, 18_976n] as const;
const START = 1_000_000n;
const COMPLETED = 'marketplace.job.completed';

const resultOf = (answer: MarketAnswer) => JSON.parse(Buffer.from(answer.body).toString()).result;

const read = async ({ accountId, agentId }: DocumentAgent, jobId: string) => {
  const signal = new AbortController().signal;
  const reading = { accountId, agentId, vendor: 'sarvam', jobId, signal };
  return resultOf(await world.main.jobs.read(reading));
};

/** All that must hold of an agent whose jobs have ended: paid once, told once, nothing held. */
async function expectEnded(agent: DocumentAgent, costRaw: bigint, statuses: readonly string[]) {
  expect(await world.money(agent)).toEqual({ spendable: START - costRaw, held: 0n });
  const { charges, events, lines } = await world.traces(agent);
  expect(charges.reduce((sum, { cost }) => sum + cost, 0n)).toBe(costRaw);
  expect(lines).toEqual(costRaw === 0n ? [] : [costRaw]);
  const ends = events.filter(({ name }) => name === COMPLETED);
  expect(ends.map(({ payload }) => payload.status)).toEqual(statuses);
  const rows = await world.rows(agent);
  expect(rows.map(({ step }) => step)).toEqual(statuses);
  expect(rows.reduce((sum, { cost_raw: cost }) => sum + (cost ?? 0n), 0n)).toBe(costRaw);
  expect(await world.faults()).toEqual([]);
}

describe('a document', () => {
  it('becomes a job that is held for its pages, and paid when they are there', async () => {
    const agent = await world.agent();
    const answer = await world.submit(agent, { language_code: 'en-IN' });
    const accepted = resultOf(answer);
    expect([answer.status, answer.costRaw, answer.payment]).toEqual([202, 0n, 'passthrough']);
    expect(accepted).toMatchObject({
      ...{ vendor: 'sarvam', status: 'queued', heldRaw: '18976', costRaw: null, error: null },
      pages: { held: 3, total: null, delivered: null, failed: null },
      statusUrl: `https://m.example/v1/doc/sarvam/${accepted.jobId}`,
    });
    expect(await world.money(agent)).toEqual({ spendable: START - PRICE[3], held: PRICE[3] });
    const [job] = world.peer.jobs.slice(-1);
    expect(job).toMatchObject({
      ...{ parameters: { output_format: 'md', language: 'en-IN' }, fileName: 'document.pdf' },
      ...{ file: pdfOf(3), starts: 0 },
    });
    await world.main.step();
    const begun = await read(agent, accepted.jobId);
    expect([begun.status, begun.text]).toEqual(['running', undefined]);
    await world.finish();
    await expectEnded(agent, PRICE[3], ['completed']);
    expect(job?.starts).toBe(1);
    const done = await read(agent, accepted.jobId);
    expect(done).toMatchObject({
      ...{ status: 'completed', heldRaw: '0', costRaw: '18976', contentType: 'text/markdown' },
      ...{ text: '# A document\n\nWith text.\n', archiveBase64: archiveOf(3).toString('base64') },
      pages: { held: 3, total: 3, delivered: 3, failed: 0 },
    });
    const { charges, events } = await world.traces(agent);
    expect(charges).toMatchObject([{ status: 'success', usage: { page: 3 } }]);
    expect(events.map(({ name }) => name)).toEqual(['marketplace.payment.settled', COMPLETED]);
    expect(events[1]?.payload).toEqual({
      ...{ agentWalletAddress: `0x${agent.agentId}`, jobId: accepted.jobId, vendor: 'sarvam' },
      status: 'completed',
    });
  });

  it('may be an archive of pages, and become HTML', async () => {
    const agent = await world.agent();
    const pages = zipOf({ 'one.png': 'a', 'two.JPG': 'b', 'three.jpeg': 'c' });
    const body = { documentBase64: pages.toString('base64'), output_format: 'html' };
    const { jobId } = resultOf(await world.submit(agent, body));
    expect(world.peer.jobs.at(-1)?.fileName).toBe('document.zip');
    await world.finish();
    expect(await read(agent, jobId)).toMatchObject({ contentType: 'text/html', costRaw: '18976' });
  });

  it('is read by its own agent alone, and no longer than it is kept', async () => {
    const [agent, other] = [await world.agent(), await world.agent()];
    const { jobId } = resultOf(await world.submit(agent));
    await expect(read(other, jobId)).rejects.toMatchObject({ status: 404, error: 'not_found' });
    await expect(read(agent, 'job_none')).rejects.toMatchObject({ status: 404 });
    await world.finish();
    await world.sql`update marketplace_jobs set due_at = now() where id = ${jobId}`;
    await world.main.jobs.worker.tick();
    const old = await read(agent, jobId);
    expect([old.status, old.costRaw, old.text]).toEqual(['completed', '18976', undefined]);
  });

  it.each([
    ['has too many pages', { documentBase64: pdfOf(11).toString('base64') }],
    ['has no page', { documentBase64: zipOf({ 'a.txt': 'a' }).toString('base64') }],
    ['is none', { documentBase64: Buffer.from('a text').toString('base64') }],
    ['is in an unknown language', { language_code: 'xx-XX' }],
    ['is named twice', { documentUrl: 'https://a.example/a.pdf' }],
    ['is not there', { documentBase64: null }],
    ['is to become something else', { output_format: 'docx' }],
    ['is no base64', { documentBase64: '****' }],
  ])('that %s is refused before anything is held or asked', async (_, body) => {
    const agent = await world.agent();
    const before = world.peer.jobs.length;
    await expect(world.submit(agent, body)).rejects.toMatchObject({
      ...{ status: 400, error: 'Invalid request' },
    });
    expect(world.peer.jobs).toHaveLength(before);
    await expectEnded(agent, 0n, []);
  });

  it('is refused where the balance does not cover it, and the vendor hears of none', async () => {
    const agent = await world.agent(PRICE[3] - 1n);
    const before = world.peer.jobs.length;
    await expect(world.submit(agent)).rejects.toMatchObject({ status: 402 });
    expect(world.peer.jobs).toHaveLength(before);
    expect(await world.rows(agent)).toEqual([]);
    expect(await world.money(agent)).toEqual({ spendable: PRICE[3] - 1n, held: 0n });
  });

  it('waits for a place where its agent has as many jobs as it may', async () => {
    const agent = await world.agent();
    const { jobsPerAgent } = LIMITS.marketplace.documents;
    const asked = Array.from({ length: jobsPerAgent + 4 }, () =>
      world.submit(agent).catch(({ status }) => ({ status })),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    // Four files of an agent are read at a time, so that some are refused for that.
    expect(statuses.filter((status) => status === 202).length).toBeLessThanOrEqual(jobsPerAgent);
    for (let more = 0; more < jobsPerAgent; more++) {
      await world.submit(agent).catch(() => {});
    }
    expect(await world.rows(agent)).toHaveLength(jobsPerAgent);
    await expect(world.submit(agent)).rejects.toMatchObject({ status: 503 });
    await world.finish(world.main, 30);
    await expectEnded2(agent, jobsPerAgent);
  });
});

async function expectEnded2(agent: DocumentAgent, jobs: number) {
  const costRaw = PRICE[3] * BigInt(jobs);
  expect(await world.money(agent)).toEqual({ spendable: START - costRaw, held: 0n });
  expect(await world.faults()).toEqual([]);
}

describe('a vendor', () => {
  it.each([
    ['create', 500, 500],
    ['create', 422, 422],
    ['create', 401, 503],
    ['links', 503, 503],
    ['upload', 403, 502],
  ] as const)(
    'that answers %s with %i before the job is accepted costs nothing',
    async (step, status, shown) => {
      const agent = await world.agent();
      world.peer.faults.push({ step, kind: 'status', status });
      const told = await world.submit(agent).catch((refusal) => refusal);
      expect(told.status).toBe(shown);
      expect(Buffer.from(told.body ?? '').toString() + told.message).not.toContain(KEY);
      await expectEnded(agent, 0n, []);
    },
  );

  it.each(['create', 'links', 'upload'] as const)(
    'that says nothing to %s, or breaks off, costs nothing',
    async (step) => {
      for (const kind of ['silence', 'cut'] as const) {
        const agent = await world.agent();
        world.peer.faults.push({ step, kind });
        await expect(world.submit(agent)).rejects.toMatchObject({ status: 502 });
        await expectEnded(agent, 0n, []);
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
    'that fails at %s for a while (%j) is asked again, started once, and paid once',
    async (step, fault) => {
      const agent = await world.agent();
      await world.submit(agent);
      world.peer.faults.push({ step, ...fault } as DocumentFault);
      await world.finish();
      expect(world.peer.jobs.at(-1)?.starts).toBe(1);
      await expectEnded(agent, PRICE[3], ['completed']);
    },
  );

  it.each([
    ['refuses the document', 422, 'vendor_refused'],
    ['refuses the account', 403, 'vendor_unavailable'],
  ] as const)('that %s at the start ends the job for nothing', async (_, status, code) => {
    const agent = await world.agent();
    const { jobId } = resultOf(await world.submit(agent));
    world.peer.faults.push({ step: 'start', kind: 'status', status });
    await world.finish();
    expect(await read(agent, jobId)).toMatchObject({
      status: 'failed',
      costRaw: '0',
      error: { code },
    });
    await expectEnded(agent, 0n, ['failed']);
  });

  it('that does not say whether it has begun is not told twice, and the job fails', async () => {
    const agent = await world.agent();
    const { jobId } = resultOf(await world.submit(agent));
    world.peer.faults.push({ step: 'start', kind: 'silence' });
    await world.main.step();
    await world.main.step();
    expect(await read(agent, jobId)).toMatchObject({ status: 'running', costRaw: null });
    await world.sql`update marketplace_jobs set started_at = started_at - interval '3 minutes'`;
    await world.main.step();
    expect(await read(agent, jobId)).toMatchObject({ error: { code: 'start_undecided' } });
    expect(world.peer.jobs.at(-1)?.starts).toBe(0);
    await expectEnded(agent, 0n, ['failed']);
  });

  it('that fails says why, without the key of the operator', async () => {
    const agent = await world.agent();
    world.peer.does.fails = `Unreadable, says ${KEY}`;
    const { jobId } = resultOf(await world.submit(agent));
    await world.finish();
    expect((await read(agent, jobId)).error).toEqual({
      ...{ code: 'vendor_failed', message: 'Unreadable, says ***' },
    });
    await expectEnded(agent, 0n, ['failed']);
  });

  it('that never ends has half an hour, and then its hold is free', async () => {
    const agent = await world.agent();
    world.peer.does.neverEnds = true;
    const { jobId } = resultOf(await world.submit(agent));
    for (let looks = 0; looks < 5; looks++) await world.main.step();
    expect(await world.money(agent)).toMatchObject({ held: PRICE[3] });
    await world.sql`update marketplace_jobs set deadline_at = now() where id = ${jobId}`;
    await world.main.step();
    expect((await read(agent, jobId)).error.code).toBe('timed_out');
    await expectEnded(agent, 0n, ['failed']);
  });

  it.each([
    ['delivers a part', { delivers: 2, says: 2 }, 2, undefined],
    ['names more pages than it delivers', { delivers: 2, says: 3 }, 2, ['2 pages', '3 pages']],
    ['names fewer pages than it delivers', { delivers: 3, says: 1 }, 1, ['3 pages', '1 pages']],
    [
      'delivers more pages than are held',
      { delivers: 9, says: 9, total: 9 },
      3,
      ['at most 3 pages', '9 pages'],
    ],
    ['tells no count', { delivers: 2, says: undefined }, 2, undefined],
    ['has no layout of pages', { delivers: 0, says: 3 }, 3, undefined],
  ] as const)(
    'that %s is paid for what both it and the archive have',
    async (_, does, pages, told) => {
      const agent = await world.agent();
      Object.assign(world.peer.does, does);
      const { jobId } = resultOf(await world.submit(agent));
      await world.finish();
      expect((await read(agent, jobId)).pages.delivered).toBe(pages);
      await expectEnded(agent, PRICE[pages], ['completed']);
      const { events } = await world.traces(agent);
      const [tripwire] = events.filter(({ name }) => name === 'marketplace.tripwire.triggered');
      const { expected, observed } = tripwire?.payload ?? {};
      expect(tripwire && [expected, observed]).toEqual(told);
    },
  );

  it.each([
    ['no archive', Buffer.from('<Error/>'), 'unreadable_result'],
    ['an archive without the text', zipOf({ 'a.bin': 'a' }), 'unreadable_result'],
    [
      'an archive that is too large',
      Buffer.alloc(LIMITS.marketplace.documents.archiveBytes + 1),
      'unreadable_result',
    ],
    [
      'a text that is too large',
      zipOf({ 'document.md': Buffer.alloc(LIMITS.marketplace.documents.textBytes + 1) }),
      'unreadable_result',
    ],
  ] as const)('that delivers %s is not paid', async (_, archive, code) => {
    const agent = await world.agent();
    world.peer.does.archive = archive;
    const { jobId } = resultOf(await world.submit(agent));
    await world.finish();
    expect((await read(agent, jobId)).error.code).toBe(code);
    await expectEnded(agent, 0n, ['failed']);
  });

  it('that delivers no page is not paid', async () => {
    const agent = await world.agent();
    Object.assign(world.peer.does, { delivers: 0, says: 0 });
    await world.submit(agent);
    await world.finish();
    await expectEnded(agent, 0n, ['failed']);
  });

  it('that names a storage inside the network is not followed there', async () => {
    const agent = await world.agent();
    world.peer.does.storage = 'http://10.0.0.1';
    await expect(world.submit(agent)).rejects.toMatchObject({ status: 502 });
    await expectEnded(agent, 0n, []);
  });
});

describe('a process that dies', () => {
  const SUBMITTING: readonly JobPoint[] = ['written', 'held', 'created', 'uploaded'];
  const WORKING: readonly JobPoint[] = [
    ...(['claimed', 'start written', 'started', 'looked', 'fetched'] as const),
    ...(['decided', 'settled', 'finished'] as const),
  ];

  it.each(SUBMITTING)(
    'at "%s" has told its caller nothing, and nothing stays held',
    async (point) => {
      const agent = await world.agent();
      const before = world.peer.jobs.length;
      const dying = await world.aProcess(point);
      void world.submitAt(dying, agent);
      await dying.died;
      await world.finish();
      expect(world.peer.jobs.slice(before).map(({ starts }) => starts)).not.toContain(1);
      await expectEnded(agent, 0n, ['failed']);
    },
  );

  it('after the job was accepted loses nothing, though its lease is over and its holds are looked for', async () => {
    const agent = await world.agent();
    const dying = await world.aProcess('queued');
    void world.submitAt(dying, agent);
    await dying.died;
    await world.sql`
      update leases set expires_at = now() - interval '1 hour' where node_id = ${dying.node.nodeId}`;
    await world.main.atOnce.tick();
    expect(await world.money(agent)).toMatchObject({ held: PRICE[3] });
    await world.finish();
    await expectEnded(agent, PRICE[3], ['completed']);
  });

  it.each(WORKING)(
    'at "%s" is followed by another: started at most once, paid once, told once',
    async (point) => {
      const agent = await world.agent();
      const { jobId } = resultOf(await world.submit(agent));
      const dying = await world.aProcess(point);
      for (let steps = 0; steps < 6; steps++) {
        const isDead = await Promise.race([
          dying.died.then(() => true),
          dying.step().then(() => false),
        ]);
        if (isDead) break;
      }
      await dying.died;
      const made = world.peer.jobs.at(-1);
      if (point === 'start written') {
        await world.sql`update marketplace_jobs set started_at = started_at - interval '3 minutes'`;
      }
      await world.finish();
      // Whether it was begun could not be told, so that it is not begun.
      const isUndecided = point === 'start written';
      expect(made?.starts).toBe(isUndecided ? 0 : 1);
      await expectEnded(agent, isUndecided ? 0n : PRICE[3], [isUndecided ? 'failed' : 'completed']);
      expect((await read(agent, jobId)).costRaw).toBe(isUndecided ? '0' : '18976');
    },
  );
});

describe('several processes', () => {
  it('share the jobs: each is started once, paid once and told once', async () => {
    const others = await Promise.all([world.aProcess(), world.aProcess(), world.aProcess()]);
    const agents = await Promise.all(Array.from({ length: 6 }, () => world.agent()));
    const before = world.peer.jobs.length;
    for (const agent of agents) {
      for (let jobs = 0; jobs < 2; jobs++) await world.submit(agent);
    }
    for (let rounds = 0; rounds < 8; rounds++) {
      await Promise.all([world.main, ...others].map(({ step }) => step()));
    }
    await world.finish();
    expect(world.peer.jobs.slice(before).map(({ starts }) => starts)).toEqual(Array(12).fill(1));
    for (const agent of agents) {
      expect(await world.money(agent)).toEqual({ spendable: START - 2n * PRICE[3], held: 0n });
      const { charges, events, lines } = await world.traces(agent);
      expect([charges.length, lines.length]).toEqual([2, 2]);
      expect(events.filter(({ name }) => name === COMPLETED)).toHaveLength(2);
    }
    expect(await world.faults()).toEqual([]);
  });
});

describe('a client', () => {
  it('that leaves before it has the answer has no job, unless its answer is kept', async () => {
    const agent = await world.agent();
    const leaving = new AbortController();
    leaving.abort();
    const gone = world.submitAt(world.main, agent, {}, { signal: leaving.signal });
    await expect(gone).rejects.toMatchObject({ status: 499 });
    await expectEnded(agent, 0n, []);
    const kept = await world.submitAt(
      world.main,
      agent,
      {},
      { signal: leaving.signal, workId: 'work_a' },
    );
    expect([kept.status, resultOf(kept).jobId]).toEqual([202, 'work_a']);
    await world.finish();
    await expectEnded(agent, PRICE[3], ['completed']);
  });

  it('whose answer was lost under its key finds the job by the hold, and never pays for a second one', async () => {
    const agent = await world.agent();
    const keys = createIdempotencyKeys({
      ...{ sql: world.sql, node: world.main.node, windowMs: 60_000 },
    });
    await world.submitAt(world.main, agent, {}, { workId: 'work_b' });
    await keys.forbid('work_b', agent.agentId);
    expect(await keys.fateOf('work_b')).toEqual({ kind: 'undecided' });
    await world.finish();
    expect(await keys.fateOf('work_b')).toEqual({
      ...{ kind: 'charged', chargedRaw: PRICE[3], reservation: null },
    });
    expect((await read(agent, 'work_b')).status).toBe('completed');
    await expectEnded(agent, PRICE[3], ['completed']);
  });
});
