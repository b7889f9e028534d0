import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { countPages } from '../../../../src/marketplace/documents/count-pages.ts';
import { packedPdfOf, pdfOf } from '../../../support/pdf.ts';
import { slowness, threadCpuMs } from '../../../support/thread-cpu.ts';
import { zipOf } from '../../../support/zip.ts';

const { documents } = LIMITS.marketplace;
const UNKNOWN = { kind: 'pdf', pages: undefined, most: documents.pages };

describe('the pages of a PDF', () => {
  it.each([
    ['plain', pdfOf(3), 3, 3],
    ['of one page', pdfOf(1), 1, 1],
    ['with its objects in a stream', packedPdfOf(7), 7, 7],
    ['longer than the vendor takes', pdfOf(200), 200, 200],
    ['behind some bytes', Buffer.concat([Buffer.from('bytes\n'), pdfOf(2)]), 2, 2],
    // Each edition has its pages anew; all of them are held, and the newest tree is what counts.
    ['in two editions', Buffer.concat([pdfOf(2), pdfOf(3)]), 3, 5],
    ['without a tree', Buffer.from('%PDF-1.4\n1 0 obj << /Type /Page >> endobj'), 1, 1],
    [
      'whose outline is counted, too',
      Buffer.concat([pdfOf(2), Buffer.from('9 0 obj\n<< /Type /Outlines /Count 99 >>\nendobj\n')]),
      2,
      2,
    ],
  ])('are counted where it is %s', async (_, bytes, pages, most) => {
    expect(await countPages(bytes)).toEqual({ kind: 'pdf', pages, most });
  });

  it('are held in full where a tree names fewer than there are', async () => {
    const lying = Buffer.from(pdfOf(9).toString().replace('/Count 9', '/Count 1'));
    expect(await countPages(lying)).toEqual({ kind: 'pdf', pages: 1, most: 9 });
  });

  it.each([
    ['encrypted or hidden', Buffer.from('%PDF-1.7\nnothing to see')],
    [
      'in a broken stream',
      Buffer.from('%PDF-1.7\n1 0 obj << /Type /ObjStm >> stream\nxx\nendstream'),
    ],
    ['in a stream without end', Buffer.from('%PDF-1.7\n1 0 obj << /Type /ObjStm >> stream\nxx')],
    [
      'in a stream that grows too large',
      Buffer.concat([
        Buffer.from('%PDF-1.7\n1 0 obj << /Type /ObjStm >> stream\n'),
        deflateSync(Buffer.alloc(documents.streamBytes + 1)),
        Buffer.from('\nendstream'),
      ]),
    ],
    [
      'in more streams than are looked into',
      Buffer.concat([
        Buffer.from('%PDF-1.7\n'),
        ...Array.from({ length: documents.streams + 1 }, () => packedPdfOf(1)),
      ]),
    ],
    [
      'under more marks than are looked at',
      Buffer.from(`%PDF-1.7\n${'/Type /Font '.repeat(documents.marks + 1)}`),
    ],
  ])('are as many as the vendor takes where they are %s', async (_, bytes) => {
    expect(await countPages(bytes)).toEqual(UNKNOWN);
  });

  it('are counted in bounded time, whatever the bytes', async () => {
    const worst = Buffer.from(`%PDF-1.7\n${'<</Type /Pages '.repeat(400_000)}`);
    const began = threadCpuMs();
    await countPages(worst);
    expect(threadCpuMs() - began).toBeLessThan(1_000 * slowness());
  });
});

describe('the pages of an archive', () => {
  it('are its images, and not what systems add', async () => {
    const archive = zipOf({
      ...{ 'a.png': '1', 'b/c.JPG': '2', 'd.jpeg': '3', 'notes.txt': '4' },
      ...{ '__MACOSX/a.png': '5', '.hidden.png': '6' },
    });
    expect(await countPages(archive)).toEqual({ kind: 'zip', pages: 3, most: 3 });
  });

  it.each([
    ['cut', zipOf({ 'a.png': '1' }).subarray(0, 40)],
    [
      'of too many files',
      zipOf(Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`${index}.png`, '']))),
    ],
  ])('are not counted where it is %s', async (_, archive) => {
    expect(await countPages(archive)).toBeUndefined();
  });
});

it('is no document where it is neither', async () => {
  expect(await countPages(Buffer.from('a text'))).toBeUndefined();
  expect(await countPages(Buffer.alloc(0))).toBeUndefined();
});
