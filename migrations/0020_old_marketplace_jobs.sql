-- Jobs that ended before ended jobs had a time to be deleted get theirs: 30 days behind their end.
UPDATE "marketplace_jobs" SET "due_at" = "ended_at" + interval '30 days' WHERE "ended_at" IS NOT NULL AND "due_at" IS NULL;
