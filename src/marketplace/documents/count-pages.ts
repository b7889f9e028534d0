import { inflate } from 'node:zlib';
import { requestErrors } from '../../http/route/errors.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';
import { isZip, readZip } from './read-zip.ts';

/** Number of pages of a document, by its bytes. */
export type CountedPages = {
  readonly kind: 'pdf' | 'zip';
  /** Pages that the document's bytes show. Undefined when the bytes do not show the number. */
  readonly pages: number | undefined;
  /** Largest number of pages that the document may have. For a PDF always the vendor's limit, since a PDF can hide pages. */
  readonly most: number;
};

const { archiveEntries, dictionaryBytes, marks, pages, streamBytes, streams, trees } =
  MARKETPLACE_LIMITS.documents;
const { searchBytesPerTurn } = MARKETPLACE_LIMITS.documents;

/**
 * Counts the pages of a PDF, or of a ZIP archive of JPEG and PNG pages, in bounded work. A PDF can hide pages, in streams,
 * behind encryption or by another spelling of their type, so that no PDF is known to have fewer pages than the vendor accepts.
 * Undefined when the bytes are no PDF and no archive. Throws the refusal of a client that leaves meanwhile.
 */
export async function countPages(
  bytes: Buffer,
  signal: AbortSignal,
): Promise<CountedPages | undefined> {
  if (isZip(bytes)) {
    const files = readZip(bytes, archiveEntries);
    if (files === undefined) return undefined;
    const count = files.filter(({ name }) => IMAGE.test(name) && !HIDDEN.test(name)).length;
    return { kind: 'zip', pages: count, most: count };
  }
  // PDF readers allow other bytes before the mark (ISO 32000-1, annex H.3.4.1).
  return bytes.subarray(0, 1_024).includes('%PDF-') ? countPdf(bytes, signal) : undefined;
}

const IMAGE = /\.(?:jpe?g|png)$/i;
const HIDDEN = /(?:^|\/)(?:\.|__MACOSX\/)/;

type Found = { leaves: number; largestTree: number; marks: number; trees: number };

async function countPdf(bytes: Buffer, signal: AbortSignal): Promise<CountedPages> {
  const found: Found = { leaves: 0, largestTree: 0, marks: 0, trees: 0 };
  const isWhole =
    (await look(bytes, found, signal)) && (await lookIntoStreams(bytes, found, signal));
  const told = found.largestTree || found.leaves;
  return { kind: 'pdf', pages: isWhole && told > 0 ? told : undefined, most: pages };
}

/** Returns the first position of a mark that lies wholly between `from` and `until`, or -1. */
type Search = (mark: string, from: number, until?: number) => Promise<number>;

/**
 * Searches bytes in pieces and lets others run after every `searchBytesPerTurn` bytes, counted over all searches.
 * Node's own search is slow on bytes that repeat the first byte of the mark.
 */
function searchIn(bytes: Buffer, signal: AbortSignal): Search {
  let sinceTurn = 0;
  return async (mark, from, until = bytes.length) => {
    const end = Math.min(until, bytes.length);
    const overlap = mark.length - 1;
    for (let at = from; at + overlap < end; ) {
      const next = Math.min(at + searchBytesPerTurn - sinceTurn, end - overlap);
      const found = bytes.subarray(at, next + overlap).indexOf(mark, 0, 'latin1');
      sinceTurn += found < 0 ? next - at : found;
      if (sinceTurn >= searchBytesPerTurn) {
        sinceTurn = 0;
        await turnForLongWork();
        if (signal.aborted) throw requestErrors.clientClosed();
      }
      if (found >= 0) return at + found;
      at = next;
    }
    return -1;
  };
}

/** Adds the pages and page trees among some objects. Returns false when there are more marks or trees than are examined. */
async function look(bytes: Buffer, found: Found, signal: AbortSignal): Promise<boolean> {
  const search = searchIn(bytes, signal);
  for (let at = await search('/Type', 0); at >= 0; at = await search('/Type', at + 5)) {
    if (++found.marks > marks) return false;
    if (found.marks % 1_000 === 0) await turnForLongWork();
    const type = /^\/Type\s*\/(Pages?)(?![A-Za-z])/.exec(
      bytes.toString('latin1', at, at + 24),
    )?.[1];
    if (type === 'Page') found.leaves++;
    if (type !== 'Pages') continue;
    if (++found.trees > trees) return false;
    // The dictionary is walked byte by byte.
    await turnForLongWork();
    const count = /\/Count\s+(\d{1,9})\b/.exec(dictionaryAround(bytes, at))?.[1];
    found.largestTree = Math.max(found.largestTree, Number(count ?? 0));
  }
  return true;
}

/** Returns the dictionary around a place, as a part of the `dictionaryBytes` before and after the place. */
function dictionaryAround(bytes: Buffer, at: number): string {
  const from = Math.max(0, at - dictionaryBytes);
  const text = bytes.toString('latin1', from, at + dictionaryBytes);
  const begin = edge(text, at - from, -1);
  return text.slice(begin, edge(text, at - from, 1));
}

function edge(text: string, place: number, step: 1 | -1): number {
  const [opens, closes] = step === 1 ? ['<<', '>>'] : ['>>', '<<'];
  let depth = 0;
  for (let at = place; at >= 0 && at < text.length; at += step) {
    const pair = text.slice(at, at + 2);
    if (pair === opens) depth++;
    if (pair === closes && depth-- === 0) return at;
    if (pair === opens || pair === closes) at += step;
  }
  return step === 1 ? text.length : 0;
}

/** Counts pages in compressed object streams (ISO 32000-1, 7.5.7). Returns false when not every stream could be read. */
async function lookIntoStreams(bytes: Buffer, found: Found, signal: AbortSignal): Promise<boolean> {
  const search = searchIn(bytes, signal);
  let seen = 0;
  for (let at = await search('/ObjStm', 0), end = 0; at >= 0; at = await search('/ObjStm', end)) {
    if (++seen > streams) return false;
    // Each search covers a bounded part after the last mark, so that no byte is searched for many marks.
    const begin = await search('stream', at, at + dictionaryBytes);
    if (begin < 0) return false;
    end = await search('endstream', begin, begin + streamBytes);
    if (end < 0) return false;
    const from = bytes[begin + 6] === 13 ? begin + 8 : begin + 7;
    const objects = await inflated(bytes.subarray(from, end));
    if (objects === undefined || !(await look(objects, found, signal))) return false;
  }
  return true;
}

function inflated(packed: Buffer): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    inflate(packed, { maxOutputLength: streamBytes }, (error, bytes) => {
      resolve(error === null ? bytes : undefined);
    });
  });
}
