const LINE_END = /\r\n|\n|\r/;
const DATA = 'data:';

/**
 * Returns the data of each server-sent event in a piece, for one WebSocket message each. The piece holds whole events; comments
 * have no data and are left out.
 */
export function eventTexts(piece: Uint8Array): string[] {
  const texts: string[] = [];
  let data = '';
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  for (const line of bytes.toString('utf8').split(LINE_END)) {
    if (line.startsWith(DATA)) data += line.slice(DATA.length);
    if (line !== '' || data === '') continue;
    texts.push(data.trim());
    data = '';
  }
  return texts;
}
