import { MARKETPLACE_LIMITS } from '../limits.ts';
import type { DocumentOrder } from './document-service.ts';
import { readEntry, readZip } from './read-zip.ts';

/** Text of a document, and the number of its pages that the archive describes. */
export type ReadArchive = {
  readonly text: string;
  /** Pages that the archive describes. Undefined when the archive describes none. */
  readonly pages: number | undefined;
};

/** Matches the file in the archive that has the layout of one page. */
const PAGE = /(?:^|\/)metadata\/page_\d{1,5}\.json$/i;

/** Reads the archive of a vendor's delivery, in bounds. Undefined when the bytes are no archive with a text of this format. */
export async function readArchive(
  archive: Buffer,
  format: DocumentOrder['format'],
): Promise<ReadArchive | undefined> {
  const { archiveEntries, textBytes } = MARKETPLACE_LIMITS.documents;
  const entries = readZip(archive, archiveEntries) ?? [];
  const document = entries.find(({ name }) => name.toLowerCase().endsWith(`.${format}`));
  const content = document && (await readEntry(archive, document, textBytes));
  if (content === undefined) return undefined;
  const pages = new Set(entries.filter(({ name }) => PAGE.test(name)).map(({ name }) => name)).size;
  return { text: content.toString('utf8'), pages: pages === 0 ? undefined : pages };
}
