-- Totals behind the commit for reports, and the record of refusals. Rows of uploads so far wait to be rolled up.
CREATE TABLE "reconciled_changes" (
	"id" bigserial NOT NULL,
	"agent_id" integer NOT NULL,
	"day" date NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	"host" text COLLATE "C" NOT NULL,
	"customer" text COLLATE "C" NOT NULL,
	"task" text COLLATE "C" NOT NULL,
	"calls" integer NOT NULL,
	"cost_raw" bigint NOT NULL,
	CONSTRAINT "reconciled_changes_agent_id_id_pk" PRIMARY KEY("agent_id","id")
);
--> statement-breakpoint
CREATE TABLE "refusal_days" (
	"agent_id" integer NOT NULL,
	"day" date NOT NULL,
	"calls" integer NOT NULL,
	CONSTRAINT "refusal_days_agent_id_day_pk" PRIMARY KEY("agent_id","day")
);
--> statement-breakpoint
CREATE TABLE "refusal_totals" (
	"agent_id" integer NOT NULL,
	"day" date NOT NULL,
	"reason" text COLLATE "C" NOT NULL,
	"calls" integer NOT NULL,
	CONSTRAINT "refusal_totals_agent_id_day_reason_pk" PRIMARY KEY("agent_id","day","reason")
);
--> statement-breakpoint
CREATE TABLE "refusals" (
	"id" bigserial NOT NULL,
	"agent_id" integer NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"request_id" text NOT NULL,
	"reason" text COLLATE "C" NOT NULL,
	"policy_id" integer,
	"host" text,
	"required_raw" bigint,
	"available_raw" bigint,
	CONSTRAINT "refusals_agent_id_id_pk" PRIMARY KEY("agent_id","id")
);
--> statement-breakpoint
CREATE TABLE "report_cursors" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"charge_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "report_latency" (
	"agent_id" integer NOT NULL,
	"day" date NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	"bucket" smallint NOT NULL,
	"calls" integer NOT NULL,
	CONSTRAINT "report_latency_agent_id_day_source_bucket_pk" PRIMARY KEY("agent_id","day","source","bucket")
);
--> statement-breakpoint
CREATE TABLE "report_totals" (
	"agent_id" integer NOT NULL,
	"dimension" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"calls" integer NOT NULL,
	"failed" integer NOT NULL,
	"cost_raw" bigint NOT NULL,
	CONSTRAINT "report_totals_agent_id_dimension_day_source_key_pk" PRIMARY KEY("agent_id","dimension","day","source","key")
);
--> statement-breakpoint
CREATE INDEX "refusal_days_day" ON "refusal_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "refusals_at" ON "refusals" USING btree ("at");--> statement-breakpoint
INSERT INTO "reconciled_changes" ("agent_id", "day", "source", "host", "customer", "task", "calls", "cost_raw")
SELECT "agent_id", ("at" AT TIME ZONE 'UTC')::date, 'guard', '', '', '', count(*), sum("cost_raw")
FROM "reconciled_events" GROUP BY 1, 2;
