DROP INDEX "payouts_agent";--> statement-breakpoint
CREATE INDEX "agent_keys_agent" ON "agent_keys" USING btree ("agent_id","id");--> statement-breakpoint
CREATE INDEX "developer_keys_account" ON "developer_keys" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "payouts_agent" ON "payouts" USING btree ("agent_id","created_at","nonce");