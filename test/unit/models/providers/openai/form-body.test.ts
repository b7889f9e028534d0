import { expect, it } from 'vitest';
import { systemRandom } from '../../../../../src/kernel/random.ts';
import { writeForm } from '../../../../../src/models/providers/openai/form-body.ts';

const parse = (form: ReturnType<typeof writeForm>) =>
  new Response(Buffer.concat(form.pieces), {
    headers: { 'content-type': form.contentType },
  }).formData();

it('a multipart form reads back as what was written, and does not copy the file', async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  const form = writeForm(
    systemRandom,
    [
      ['model', 'ears'],
      ['timestamp_granularities[]', 'word'],
      ['prompt', 'é "quoted"\r\nlines'],
    ],
    { name: 'a.wav', contentType: 'audio/wav', bytes },
  );
  expect(form.pieces).toContain(bytes);
  expect(form.length).toBe(Buffer.concat(form.pieces).length);
  const read = await parse(form);
  expect([...read.keys()]).toEqual(['model', 'timestamp_granularities[]', 'prompt', 'file']);
  expect(read.get('prompt')).toBe('é "quoted"\r\nlines');
  const file = read.get('file') as File;
  expect([file.name, file.type]).toEqual(['a.wav', 'audio/wav']);
  expect(Buffer.from(await file.arrayBuffer())).toEqual(bytes);
});

it('a multipart form’s names and content types cannot break out of their header', async () => {
  const form = writeForm(systemRandom, [['a"\r\nx: y', 'value']], {
    name: 'b"\r\nx: y\r\n\r\n',
    contentType: 'audio/wav\r\nx: y',
    bytes: Buffer.from('z'),
  });
  const read = await parse(form);
  expect([...read.keys()]).toHaveLength(2);
  expect(await (read.get('file') as File).text()).toBe('z');
});
