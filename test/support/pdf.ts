import { deflateSync } from 'node:zlib';

const page = (number: number) => `${number} 0 obj\n<< /Type /Page /Parent 2 0 R >>\nendobj\n`;

/** A PDF of so many empty pages. */
export function pdfOf(pages: number): Buffer {
  const kids = Array.from({ length: pages }, (_, index) => `${index + 3} 0 R`).join(' ');
  const leaves = Array.from({ length: pages }, (_, index) => page(index + 3)).join('');
  return Buffer.from(
    `%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n` +
      `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>\nendobj\n${leaves}` +
      `trailer\n<< /Root 1 0 R >>\n%%EOF\n`,
  );
}

/** The same with its objects in a compressed stream, as newer writers have it. */
export function packedPdfOf(pages: number): Buffer {
  const leaves = Array.from({ length: pages }, () => '<< /Type /Page /Parent 2 0 R >>').join(' ');
  const objects = deflateSync(
    `1 0 2 40 << /Type /Catalog /Pages 2 0 R >> << /Type /Pages /Kids [] /Count ${pages} >> ${leaves}`,
  );
  return Buffer.concat([
    Buffer.from(`%PDF-1.5\n5 0 obj\n<< /Type /ObjStm /Length ${objects.length} >>\nstream\n`),
    objects,
    Buffer.from('\nendstream\nendobj\n%%EOF\n'),
  ]);
}
