import { inflate } from 'node:zlib';
import { LIMITS } from '../../kernel/limits.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import { isZip, readZip } from './read-zip.ts';

/** How many pages a document has, as far as its bytes tell. */
export type CountedPages = {
  readonly kind: 'pdf' | 'zip';
  /** What it says of itself; undefined: its bytes do not tell. */
  readonly pages: number | undefined;
  /** The most that its bytes give reason for; the vendor's bound where they tell nothing. */
  readonly most: number;
};

const { archiveEntries, dictionaryBytes, marks, pages, streamBytes, streams, trees } =
  LIMITS.marketplace.documents;

/**
 * Counts the pages of a PDF, or of a ZIP archive of JPEG and PNG pages, in bounded work. A PDF that hides them, in
 * encrypted or in many streams, may have as many as the vendor takes. Undefined: it is neither.
 */
export async function countPages(bytes: Buffer): Promise<CountedPages | undefined> {
  if (isZip(bytes)) {
    const files = readZip(bytes, archiveEntries);
    if (files === undefined) return undefined;
    const count = files.filter(({ name }) => IMAGE.test(name) && !HIDDEN.test(name)).length;
    return { kind: 'zip', pages: count, most: count };
  }
  // Readers allow for bytes before the mark (ISO 32000-1, annex H.3.4.1).
  return bytes.subarray(0, 1_024).includes('%PDF-') ? countPdf(bytes) : undefined;
}

const IMAGE = /\.(?:jpe?g|png)$/i;
const HIDDEN = /(?:^|\/)(?:\.|__MACOSX\/)/;

type Found = { leaves: number; largestTree: number; marks: number; trees: number };

async function countPdf(bytes: Buffer): Promise<CountedPages> {
  const found: Found = { leaves: 0, largestTree: 0, marks: 0, trees: 0 };
  const isWhole = (await look(bytes, found)) && (await lookIntoStreams(bytes, found));
  const told = found.largestTree || found.leaves;
  if (!isWhole || told === 0) return { kind: 'pdf', pages: undefined, most: pages };
  // Each edition of a document may have its pages anew, so that there are more of them than the tree counts.
  return { kind: 'pdf', pages: told, most: Math.max(told, found.leaves) };
}

/** Adds the pages and page trees among some objects. False where there is more to look at than is looked at. */
async function look(bytes: Buffer, found: Found): Promise<boolean> {
  for (let at = bytes.indexOf('/Type'); at >= 0; at = bytes.indexOf('/Type', at + 5)) {
    if (++found.marks > marks) return false;
    if (found.marks % 1_000 === 0) await turnForLongWork();
    const type = /^\/Type\s*\/(Pages?)(?![A-Za-z])/.exec(
      bytes.toString('latin1', at, at + 24),
    )?.[1];
    if (type === 'Page') found.leaves++;
    if (type !== 'Pages') continue;
    if (++found.trees > trees) return false;
    // Its dictionary is walked byte by byte.
    await turnForLongWork();
    const count = /\/Count\s+(\d{1,9})\b/.exec(dictionaryAround(bytes, at))?.[1];
    found.largestTree = Math.max(found.largestTree, Number(count ?? 0));
  }
  return true;
}

/** The dictionary that a place is in, as far as it is near. */
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

/** Objects may stand in compressed streams (ISO 32000-1, 7.5.7). */
async function lookIntoStreams(bytes: Buffer, found: Found): Promise<boolean> {
  let seen = 0;
  for (let at = bytes.indexOf('/ObjStm'); at >= 0; at = bytes.indexOf('/ObjStm', at + 7)) {
    if (++seen > streams) return false;
    const begin = bytes.indexOf('stream', at);
    const end = begin < 0 ? -1 : bytes.indexOf('endstream', begin);
    if (end < 0 || end - begin > streamBytes) return false;
    const from = bytes[begin + 6] === 13 ? begin + 8 : begin + 7;
    const objects = await inflated(bytes.subarray(from, end));
    if (objects === undefined || !(await look(objects, found))) return false;
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
