import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createIdempotencyKeys } from '../../../src/idempotency/idempotency-store.ts';
import { MARKETPLACE_LIMITS } from '../../../src/marketplace/limits.ts';
import { pdfOf } from '../../support/pdf.ts';
import {
  COMPLETED,
  expectEnded,
  HELD,
  PRICE,
  readJobOf,
  resultOf,
  START,
} from '../../support/vendors/document-checks.ts';
import { archiveOf, asUsual } from '../../support/vendors/document-peer.ts';
import { type DocumentWorld, startDocumentWorld } from '../../support/vendors/document-world.ts';
import { zipOf } from '../../support/zip.ts';

let world: DocumentWorld;
beforeAll(async () => {
  world = await startDocumentWorld();
});
afterEach(() => asUsual(world.peer));
afterAll(() => world[Symbol.asyncDispose]());

describe('a document', () => {
  it('a document becomes a job that is held by its pages, and paid when they are delivered', async () => {
    const agent = await world.agent();
    const answer = await world.submit(agent, { language_code: 'en-IN' });
    const accepted = resultOf(answer);
    expect([answer.status, answer.costRaw, answer.payment]).toEqual([202, 0n, 'passthrough']);
    expect(accepted).toMatchObject({
      vendor: 'sarvam',
      status: 'queued',
      heldRaw: '63254',
      costRaw: null,
      error: null,
      pages: { held: 10, total: null, delivered: null, failed: null },
      statusUrl: `https://m.example/v1/doc/sarvam/${accepted.jobId}`,
    });
    expect(await world.money(agent)).toEqual({ spendable: START - HELD, held: HELD });
    const [job] = world.peer.jobs.slice(-1);
    expect(job).toMatchObject({
      parameters: { output_format: 'md', language: 'en-IN' },
      fileName: 'document.pdf',
      file: pdfOf(3),
      starts: 0,
    });
    await world.main.step();
    const begun = await readJobOf(world, agent, accepted.jobId);
    expect([begun.status, begun.text]).toEqual(['running', undefined]);
    await world.finish();
    await expectEnded(world, agent, PRICE[3], ['completed']);
    expect(job?.starts).toBe(1);
    const done = await readJobOf(world, agent, accepted.jobId);
    expect(done).toMatchObject({
      status: 'completed',
      heldRaw: '0',
      costRaw: '18976',
      contentType: 'text/markdown',
      text: '# A document\n\nWith text.\n',
      archiveBase64: archiveOf(3).toString('base64'),
      pages: { held: 10, total: 3, delivered: 3, failed: 0 },
    });
    const { charges, events } = await world.traces(agent);
    expect(charges).toMatchObject([{ status: 'success', usage: { page: 3 } }]);
    expect(events.map(({ name }) => name)).toEqual(['marketplace.payment.settled', COMPLETED]);
    expect(events[1]?.payload).toEqual({
      agentWalletAddress: `0x${agent.agentId}`,
      jobId: accepted.jobId,
      vendor: 'sarvam',
      status: 'completed',
    });
  });

  it('a document may be an archive of pages, and be converted to HTML', async () => {
    const agent = await world.agent();
    const pages = zipOf({ 'one.png': 'a', 'two.JPG': 'b', 'three.jpeg': 'c' });
    const body = { documentBase64: pages.toString('base64'), output_format: 'html' };
    const { jobId } = resultOf(await world.submit(agent, body));
    expect(world.peer.jobs.at(-1)?.fileName).toBe('document.zip');
    expect(await world.money(agent)).toMatchObject({ held: PRICE[3] });
    await world.finish();
    expect(await readJobOf(world, agent, jobId)).toMatchObject({
      contentType: 'text/html',
      costRaw: '18976',
    });
  });

  it('a document job is read by its own agent alone, until its text and later its record are deleted', async () => {
    const [agent, other] = [await world.agent(), await world.agent()];
    const { jobId } = resultOf(await world.submit(agent));
    await expect(readJobOf(world, other, jobId)).rejects.toMatchObject({
      status: 404,
      error: 'not_found',
    });
    await expect(readJobOf(world, agent, 'job_none')).rejects.toMatchObject({ status: 404 });
    await world.finish();
    await world.sql`update marketplace_jobs set due_at = now() where id = ${jobId}`;
    await world.main.jobs.worker.tick();
    const old = await readJobOf(world, agent, jobId);
    expect([old.status, old.costRaw, old.text]).toEqual(['completed', '18976', undefined]);
    const [kept] = await world.sql<{ days: number }[]>`
      select extract(day from due_at - ended_at)::int as days from marketplace_jobs
      where id = ${jobId}`;
    expect(kept?.days).toBe(30);
    await world.sql`update marketplace_jobs set due_at = now() where id = ${jobId}`;
    await world.main.jobs.worker.tick();
    await expect(readJobOf(world, agent, jobId)).rejects.toMatchObject({ status: 404 });
  });

  it('expired failed document jobs are deleted in batches, and no running one with them', async () => {
    const agent = await world.agent();
    const { jobsPerAgent, jobsPerTick } = MARKETPLACE_LIMITS.documents;
    world.peer.does.fails = 'Unreadable';
    for (let jobs = 0; jobs < jobsPerAgent; jobs++) await world.submit(agent);
    await world.finish(world.main, 30);
    asUsual(world.peer);
    await world.submit(agent);
    const [job] = await world.rows(agent);
    const more = jobsPerTick + 1 - jobsPerAgent;
    for (let copies = 0; copies < more; copies++) {
      await world.sql`
        insert into marketplace_jobs
        select (jsonb_populate_record(j, jsonb_build_object('id', ${`copy ${copies}`}::text))).*
        from marketplace_jobs j where id = ${job?.id ?? ''}`;
    }
    await world.sql`
      update marketplace_jobs set due_at = now() - interval '1 day'
      where ended_at is not null and agent_id = ${agent.agentId}`;
    await world.main.jobs.worker.tick();
    expect((await world.rows(agent)).filter(({ step }) => step === 'failed')).toHaveLength(1);
    await world.main.jobs.worker.tick();
    await world.finish();
    expect((await world.rows(agent)).map(({ step }) => step)).toEqual(['completed']);
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
  ])('a document that %s is refused before anything is held or sent', async (_, body) => {
    const agent = await world.agent();
    const before = world.peer.jobs.length;
    await expect(world.submit(agent, body)).rejects.toMatchObject({
      status: 400,
      error: 'Invalid request',
    });
    expect(world.peer.jobs).toHaveLength(before);
    await expectEnded(world, agent, 0n, []);
  });

  it('a document that the balance does not cover is refused, and not sent to the vendor', async () => {
    // Refused before or after its document is read, it tells what would be held.
    const poorer = await world.agent(1n);
    const requiredRaw = HELD;
    await expect(world.submit(poorer)).rejects.toMatchObject({
      status: 402,
      fields: { available: '1', required: `${requiredRaw}` },
    });
    const agent = await world.agent(HELD - 1n);
    const before = world.peer.jobs.length;
    await expect(world.submit(agent)).rejects.toMatchObject({ status: 402 });
    expect(world.peer.jobs).toHaveLength(before);
    expect(await world.rows(agent)).toEqual([]);
    expect(await world.money(agent)).toEqual({ spendable: HELD - 1n, held: 0n });
  });

  it('a document job beyond its agent’s limit of running jobs is refused with 503', async () => {
    const agent = await world.agent();
    const { jobsPerAgent } = MARKETPLACE_LIMITS.documents;
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
    const costRaw = PRICE[3] * BigInt(jobsPerAgent);
    expect(await world.money(agent)).toEqual({ spendable: START - costRaw, held: 0n });
    expect(await world.faults()).toEqual([]);
  });
});

describe('a client', () => {
  it('a client that leaves before its response gets no document job, unless it sent an Idempotency-Key', async () => {
    const agent = await world.agent();
    const leaving = new AbortController();
    leaving.abort();
    const gone = world.submitAt(world.main, agent, {}, { signal: leaving.signal });
    await expect(gone).rejects.toMatchObject({ status: 499 });
    await expectEnded(world, agent, 0n, []);
    const kept = await world.submitAt(
      world.main,
      agent,
      {},
      { signal: leaving.signal, workId: 'work_a' },
    );
    expect([kept.status, resultOf(kept).jobId]).toEqual([202, 'work_a']);
    await world.finish();
    await expectEnded(world, agent, PRICE[3], ['completed']);
  });

  it('a document job whose response was lost is found by its Idempotency-Key, and not paid twice', async () => {
    const agent = await world.agent();
    const keys = createIdempotencyKeys({ sql: world.sql, node: world.main.node, windowMs: 60_000 });
    await world.submitAt(world.main, agent, {}, { workId: 'work_b' });
    await keys.forbid('work_b', agent.agentId);
    expect(await keys.fateOf('work_b')).toEqual({ kind: 'undecided' });
    await world.finish();
    expect(await keys.fateOf('work_b')).toEqual({
      kind: 'charged',
      chargedRaw: PRICE[3],
      reservation: null,
    });
    expect((await readJobOf(world, agent, 'work_b')).status).toBe('completed');
    await expectEnded(world, agent, PRICE[3], ['completed']);
  });
});
