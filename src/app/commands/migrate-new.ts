import { generateMigration } from './generate-migration.ts';

/** `npm run migrate:new -- --name <name>`: writes the migration that updates the database's tables to src/platform/postgres/tables. */
generateMigration(process.argv.slice(2));
