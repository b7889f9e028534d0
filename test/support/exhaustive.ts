/** `npm run test:exhaustive` and the run on PostgreSQL play every row of a battery; `npm test` plays some of them. */
export const exhaustive = process.env.TEST_EXHAUSTIVE === '1';
