import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: './src/platform/postgres/tables/*.ts',
  out: './migrations',
});
