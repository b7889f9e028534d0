import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadRateCard } from '../../../src/phone/load-rate-card.ts';
import { RATE_CARD } from '../../../src/phone/rate-card.ts';

function file(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'svc-rates-')), 'rates.json');
  writeFileSync(path, text);
  return path;
}

describe('the rate card of an operator', () => {
  it('loadRateCard returns the published rate card without a file', async () => {
    expect(await loadRateCard(undefined)).toEqual(RATE_CARD);
  });

  it('loadRateCard replaces the prices that the file names and no other', async () => {
    const path = file(
      '{"outboundMinuteRaw": 20000, "rentalRaw": "1500000", "incrementSeconds": 6}',
    );
    expect(await loadRateCard(path)).toEqual({
      ...RATE_CARD,
      outboundMinuteRaw: 20_000n,
      rentalRaw: 1_500_000n,
      incrementSeconds: 6,
    });
  });

  it.each([
    ['a price below zero', '{"rentalRaw": -1}', /rentalRaw/],
    ['a fraction of a raw unit', '{"rentalRaw": 1.5}', /rentalRaw/],
    ['a price that nobody would ask', '{"rentalRaw": "9999999999999"}', /rentalRaw/],
    ['a member that there is not', '{"rentRaw": 1}', /rentRaw/],
    ['a step that is none', '{"incrementSeconds": 7}', /incrementSeconds/],
    ['what is not JSON', '{', /JSON/],
    ['a file without end', `"${'x'.repeat(70_000)}"`, /larger than 65536/],
  ])('loadRateCard refuses %s, and names the file and the place', async (_, text, place) => {
    const path = file(text);
    const refused = loadRateCard(path);
    await expect(refused).rejects.toThrow(place);
    await expect(refused).rejects.toThrow(`PHONE_RATE_CARD_FILE ${path}`);
  });

  it('loadRateCard refuses a file that does not exist', async () => {
    await expect(loadRateCard('/nowhere/rates.json')).rejects.toThrow(/ENOENT/);
  });
});
