import { describe, expect, it } from 'vitest';
import { sayNumbers } from '../../../../src/voice/speech-text/english-numbers.ts';

describe('sayNumbers', () => {
  it.each([
    ['It is $1,250.50.', 'It is one thousand two hundred fifty dollars and fifty cents.'],
    ['$5/month or $1', 'five dollars per month or one dollar'],
    ['$0.05, $0.01 and £0.50', 'five cents, one cent and fifty pence'],
    ['$3.5 million or €2k', 'three point five million dollars or two thousand euros'],
    ['$0.0005', 'zero point zero zero zero five dollars'],
    ['€12,50', '€12,50'],
    ['50% of 3.14', 'fifty percent of three point one four'],
    ['at 5:30 p.m. or 5:00 pm', 'at five thirty PM or five PM'],
    ['17:05, 8:00 and 9 a.m.', "seventeen oh five, eight o'clock and nine AM"],
    ['(415) 555-0100', 'four one five, five five five, zero one zero zero'],
    ['+442079460000', /^plus four four two, .*, zero zero$|^plus four four two/],
    ['on 2024-05-01', 'on May first, twenty twenty-four'],
    ['Jan. 5 and May 3rd, 2025', 'January fifth and May third, twenty twenty-five'],
    ['12/25/2024', 'December twenty-fifth, twenty twenty-four'],
    ['13/25/2024 is no date', /^13\/25\/2024|thirteen/],
    ['since 1999', 'since nineteen ninety-nine'],
    ["in the 1990s and the '80s", 'in the nineteen nineties and the eighties'],
    ['10-15 items, 5–7 days', 'ten to fifteen items, five to seven days'],
    ['version 1.2.3', 'version one point two point three'],
    ['your code is 0423', 'your code is zero four two three'],
    ['order number 48213', 'order number four eight two one three'],
    ['2,500 people', 'two thousand five hundred people'],
    ['5 km, 1 lb, 20°C', 'five kilometers, one pound, twenty degrees Celsius'],
    ['the 1st and 22nd', 'the first and twenty-second'],
    ['#7 of 9', 'number seven of nine'],
    ['-5 and 3/4', 'minus five and three quarters'],
    ['MP3, 4G and H2O', 'MP3, 4G and H2O'],
  ])('sayNumbers reads %j as English speakers do', (written, said) => {
    if (said instanceof RegExp) expect(sayNumbers(written)).toMatch(said);
    else expect(sayNumbers(written)).toBe(said);
  });
});
