import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { countPages } from '../../../../src/marketplace/documents/count-pages.ts';
import { MARKETPLACE_LIMITS } from '../../../../src/marketplace/limits.ts';
import { usualStallMs } from '../../../support/longest-stall.ts';
import { packedPdfOf, pdfOf } from '../../../support/pdf.ts';
import { slowness, threadCpuMs } from '../../../support/thread-cpu.ts';
import { zipOf } from '../../../support/zip.ts';

const { documents } = MARKETPLACE_LIMITS;
const UNKNOWN = { kind: 'pdf', pages: undefined, most: documents.pages };
const MIB = 1024 * 1024;
const MOST_STALL_MS = 50;

const EMPTY = deflateSync('');
const END = '\nendstream';

const count = (bytes: Buffer) => countPages(bytes, new AbortController().signal);
const pdf = (...parts: readonly (Buffer | string)[]) =>
  Buffer.concat(['%PDF-1.7\n', ...parts].map((part) => Buffer.from(part)));

const decoy = '%PDF-1.4\n1 0 obj << /Type /Page >> endobj ';

describe('the pages of a PDF', () => {
  it.each([
    ['plain', pdfOf(3), 3],
    ['of one page', pdfOf(1), 1],
    ['with its objects in a stream', packedPdfOf(7), 7],
    ['longer than the vendor takes', pdfOf(200), 200],
    ['behind some bytes', Buffer.concat([Buffer.from('bytes\n'), pdfOf(2)]), 2],
    // Each edition has its pages anew; the largest tree is what counts.
    ['in two editions', Buffer.concat([pdfOf(2), pdfOf(3)]), 3],
    ['without a tree', Buffer.from('%PDF-1.4\n1 0 obj << /Type /Page >> endobj'), 1],
    [
      'whose outline is counted, too',
      Buffer.concat([pdfOf(2), Buffer.from('9 0 obj\n<< /Type /Outlines /Count 99 >>\nendobj\n')]),
      2,
    ],
  ])(
    'the pages of a PDF %s are counted, with the vendor’s page limit as the upper bound',
    async (_, bytes, pages) => {
      expect(await count(bytes)).toEqual({ kind: 'pdf', pages, most: documents.pages });
    },
  );

  it.each([
    ['a tree names fewer than there are', pdfOf(9).toString().replace('/Count 9', '/Count 1')],
    // A name may have any of its characters as a number (ISO 32000-1, 7.3.5).
    ['others are spelt otherwise', `${decoy}${'<< /Type /#50age >>'.repeat(8)}`],
  ])('the upper bound of a PDF’s pages is the vendor’s page limit when %s', async (_, text) => {
    expect(await count(Buffer.from(text))).toEqual({ ...UNKNOWN, pages: 1 });
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
      'in a stream that does not begin near its mark',
      pdf('/ObjStm', Buffer.alloc(documents.dictionaryBytes), 'stream\nxx\nendstream'),
    ],
    [
      'under more marks than are looked at',
      Buffer.from(`%PDF-1.7\n${'/Type /Font '.repeat(documents.marks + 1)}`),
    ],
  ])(
    'a PDF whose pages are %s has an unknown page count and the vendor’s page limit as the upper bound',
    async (_, bytes) => {
      expect(await count(bytes)).toEqual(UNKNOWN);
    },
  );

  it('PDF pages in a stream that follows another stream are counted, and page marks inside compressed data are not', async () => {
    const marked = pdf('1 0 obj /ObjStm stream\n', deflateSync('/Type /Page '), '\nendstream');
    expect(await count(Buffer.concat([marked, marked]))).toMatchObject({ pages: 2 });
  });

  it.each([
    ['page trees within each other', Buffer.from(`%PDF-1.7\n${'<</Type /Pages '.repeat(400_000)}`)],
    ['nothing but first bytes of marks', pdf(Buffer.alloc(12 * MIB, '/'))],
    ['first bytes with marks between', pdf(Buffer.alloc(12 * MIB, `${'/'.repeat(400_000)}/Type `))],
    [
      'many marks far before one stream',
      pdf('/ObjStm '.repeat(documents.streams), Buffer.alloc(8 * MIB, 's'), 'stream\n', EMPTY, END),
    ],
    [
      'many marks before one long stream',
      pdf(
        '/ObjStm '.repeat(documents.streams),
        'stream\n',
        EMPTY,
        Buffer.alloc(documents.streamBytes - 1_024, 'e'),
        END,
      ),
    ],
  ])(
    'counting the pages of a PDF takes bounded time and does not block the event loop: %s',
    async (_, bytes) => {
      const began = threadCpuMs();
      expect(await usualStallMs(MOST_STALL_MS, () => count(bytes))).toBeLessThan(MOST_STALL_MS);
      expect(threadCpuMs() - began).toBeLessThan(1_500 * slowness());
    },
  );

  it('counting the pages of a PDF stops when the client leaves', async () => {
    const leaving = new AbortController();
    const counting = countPages(pdf(Buffer.alloc(4 * MIB, '/')), leaving.signal);
    leaving.abort();
    await expect(counting).rejects.toMatchObject({ status: 499 });
  });
});

describe('the pages of an archive', () => {
  it('the pages of a ZIP archive are its images, without hidden files and files that the system added', async () => {
    const archive = zipOf({
      'a.png': '1',
      'b/c.JPG': '2',
      'd.jpeg': '3',
      'notes.txt': '4',
      '__MACOSX/a.png': '5',
      '.hidden.png': '6',
    });
    expect(await count(archive)).toEqual({ kind: 'zip', pages: 3, most: 3 });
  });

  it('counting the pages of a ZIP archive without an end record does not block the event loop', async () => {
    const bytes = Buffer.alloc(12 * MIB, '\x06');
    bytes.write('PK\x03\x04', 'latin1');
    const counting = async () => expect(await count(bytes)).toBeUndefined();
    expect(await usualStallMs(MOST_STALL_MS, counting)).toBeLessThan(MOST_STALL_MS);
  });

  it.each([
    ['cut', zipOf({ 'a.png': '1' }).subarray(0, 40)],
    [
      'of too many files',
      zipOf(Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`${index}.png`, '']))),
    ],
  ])('the pages of a ZIP archive that is %s are not counted', async (_, archive) => {
    expect(await count(archive)).toBeUndefined();
  });
});

it('a file that is neither a PDF nor a ZIP archive has no page count', async () => {
  expect(await count(Buffer.from('a text'))).toBeUndefined();
  expect(await count(Buffer.alloc(0))).toBeUndefined();
});
