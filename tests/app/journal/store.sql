PRAGMA application_id = 1347572307;
PRAGMA user_version = 5;
BEGIN TRANSACTION;
CREATE TABLE batch (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, created TEXT NOT NULL, program TEXT NOT NULL, file TEXT NOT NULL,
        closure TEXT NOT NULL, model TEXT NOT NULL, rows_from TEXT NOT NULL, rows_sha TEXT NOT NULL,
        mapping TEXT NOT NULL, total INTEGER NOT NULL, state TEXT NOT NULL, holder TEXT NOT NULL, host TEXT NOT NULL,
        granted INTEGER NOT NULL, ended TEXT, reason TEXT, written TEXT, options TEXT);
INSERT INTO "batch" VALUES('cb99e903f19e','label-cb99e9','2026-11-23T23:21:07.087Z','label','/home/ada/label.md','[["label.md","47cf5b9a9721bd0d7550e77d0bebefd82d5b5dcb0c441c9f15db620e5c43183d"]]','gpt-4o','/home/ada/rows.csv','cb5f9a33624e16cd586226353fe1b7fae84f6919e156488be99cc6a86081294e','{"fields":{},"id":"","rows":"rows.csv","query":"","name":""}',3,'stopped','','there',0,'2026-11-23T23:21:07.204Z','stopped',NULL,NULL);
CREATE TABLE call (
        run TEXT NOT NULL, path TEXT NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT NULL, program TEXT NOT NULL,
        name TEXT NOT NULL, digest TEXT NOT NULL, started TEXT NOT NULL, state TEXT NOT NULL, answer TEXT,
        request TEXT, reply TEXT, is_error INTEGER NOT NULL, error TEXT, answered_by TEXT, service TEXT, finish TEXT,
        input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, seconds REAL,
        PRIMARY KEY (run, path, attempt));
INSERT INTO "call" VALUES('ad3b38a7aa0f','1',1,'model','label','gpt-4o','3e766e47da108d52afb16b12531c346af631a91f5718b4cbce5708df01ee47cb','2026-11-23T23:21:06.996Z','answered','87c477921a07a251fe5ebe04ba98c4b624ee9ccd94c32f1bc252b63a5e41e930',NULL,'{"content":"no number","tool_calls":[],"usage":{"input_tokens":100,"output_tokens":10,"cached_input_tokens":0,"written_input_tokens":0},"model_name":"fake-1","finish":"stop","refusal":null,"service":null,"opaque":""}',0,NULL,'fake-1',NULL,'stop',100,10,0,1.3401999967754818499e-04);
INSERT INTO "call" VALUES('ad3b38a7aa0f','2',1,'model','label','gpt-4o','af9fb2220cf66f7a1644c031342257b657c783e84091c69b7ebb25444ca42286','2026-11-23T23:21:07.059Z','failed',NULL,NULL,NULL,0,'down',NULL,NULL,NULL,0,0,0,4.33927000813127961009e-04);
INSERT INTO "call" VALUES('cb99e903f19e.1','1',1,'model','label','gpt-4o','6452b691b0341170629a14c69337228a9719be34505f9f06f00da2b0fc269054','2026-11-23T23:21:07.187Z','answered','b8b10f330aa0bb0d22f37b0f8514d6962bf62f76d142a6d1475555471082ccec',NULL,NULL,0,NULL,'fake-1',NULL,'stop',100,10,0,1.16242999865789897739e-04);
INSERT INTO "call" VALUES('cb99e903f19e.2','1',1,'model','label','gpt-4o','3e766e47da108d52afb16b12531c346af631a91f5718b4cbce5708df01ee47cb','2026-11-23T23:21:07.199Z','answered','87c477921a07a251fe5ebe04ba98c4b624ee9ccd94c32f1bc252b63a5e41e930',NULL,'{"content":"no number","tool_calls":[],"usage":{"input_tokens":100,"output_tokens":10,"cached_input_tokens":0,"written_input_tokens":0},"model_name":"fake-1","finish":"stop","refusal":null,"service":null,"opaque":""}',0,NULL,'fake-1',NULL,'stop',100,10,0,6.43849998596124351024e-05);
INSERT INTO "call" VALUES('cb99e903f19e.2','2',1,'model','label','gpt-4o','af9fb2220cf66f7a1644c031342257b657c783e84091c69b7ebb25444ca42286','2026-11-23T23:21:07.202Z','asked',NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,0,0,NULL);
INSERT INTO "call" VALUES('fd1625de2840cf7d','1',1,'model','reader','gpt-4o','91dcc551166eeb3c1c3e508ea16b260fc2f77e0d0d053e6356b3d99db6831763','2026-11-23T23:21:07.241Z','answered','87c477921a07a251fe5ebe04ba98c4b624ee9ccd94c32f1bc252b63a5e41e930',NULL,'{"content":"no number","tool_calls":[],"usage":{"input_tokens":100,"output_tokens":10,"cached_input_tokens":0,"written_input_tokens":0},"model_name":"fake-1","finish":"stop","refusal":null,"service":null,"opaque":""}',0,NULL,'fake-1',NULL,'stop',100,10,0,8.47260007503791712224e-05);
INSERT INTO "call" VALUES('fd1625de2840cf7d','2',1,'model','reader','gpt-4o','3895065cf99086f1e20ea184ff6073c87a37d5c2580621223ff5840445e4184a','2026-11-23T23:21:07.247Z','failed',NULL,NULL,NULL,0,'no such key',NULL,NULL,NULL,0,0,0,7.82460001573781482875e-05);
CREATE TABLE item (
        batch TEXT NOT NULL, number INTEGER NOT NULL, job TEXT NOT NULL, input TEXT NOT NULL,
        PRIMARY KEY (batch, number));
CREATE TABLE lease (
        batch TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, turn INTEGER NOT NULL,
        holder TEXT NOT NULL, host TEXT NOT NULL, PRIMARY KEY (batch, first));
CREATE TABLE message (
        id TEXT PRIMARY KEY, mailbox TEXT NOT NULL, sender TEXT NOT NULL, time TEXT NOT NULL, payload TEXT NOT NULL,
        thread TEXT NOT NULL, origin_run TEXT NOT NULL, origin_path TEXT NOT NULL, place INTEGER NOT NULL,
        returns TEXT, reply_to TEXT, hops INTEGER NOT NULL, reader TEXT, failed INTEGER NOT NULL, state TEXT NOT NULL,
        attempts INTEGER NOT NULL, run TEXT, lease_path TEXT NOT NULL, holder TEXT NOT NULL, leased TEXT, ended TEXT,
        error TEXT, UNIQUE (origin_run, origin_path));
INSERT INTO "message" VALUES('4444a94fff5ed51b','reader','user','2026-11-23T23:21:07.216Z','{"text":"refused"}','4444a94fff5ed51b','user-53a96655ea95c1fc','0',1,'user',NULL,0,NULL,0,'new',0,'fd1625de2840cf7d','','','2026-11-23T23:21:07.223Z',NULL,NULL);
CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "note" VALUES('swept','2026-11-23T23:21:07.071Z');
CREATE TABLE pace (
        id TEXT PRIMARY KEY, batch TEXT NOT NULL, service TEXT NOT NULL, at REAL NOT NULL, tokens INTEGER NOT NULL);
CREATE TABLE run (
        id TEXT PRIMARY KEY, door TEXT NOT NULL, batch TEXT NOT NULL, job TEXT NOT NULL, program TEXT NOT NULL,
        file TEXT NOT NULL, closure TEXT NOT NULL, model TEXT NOT NULL, input_sha TEXT NOT NULL,
        started TEXT NOT NULL, input TEXT, again TEXT, state TEXT NOT NULL, kind TEXT, error TEXT, output TEXT,
        attempts INTEGER NOT NULL, holder TEXT NOT NULL, host TEXT NOT NULL, ended TEXT, seconds REAL,
        calls INTEGER NOT NULL, tools INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL, cost REAL, priced TEXT, whole INTEGER NOT NULL, number INTEGER, crashes INTEGER NOT NULL DEFAULT 0);
INSERT INTO "run" VALUES('ad3b38a7aa0f','run','ad3b38a7aa0f','label','label','/home/ada/label.md','[["label.md","47cf5b9a9721bd0d7550e77d0bebefd82d5b5dcb0c441c9f15db620e5c43183d"]]','gpt-4o','5f8124d54e4e2bf1dbad4901213e14a66b57321c44393742678aa8b1391f4106','2026-11-23T23:21:06.944Z','{"text":"refused"}',NULL,'failed','provider','down',NULL,1,'c1ee23147de618e7','there','2026-11-23T23:21:07.067Z',1.22377060999497189186e-01,1,0,100,10,0,NULL,NULL,1,NULL,0);
INSERT INTO "run" VALUES('cb99e903f19e.1','batch','cb99e903f19e','1','label','/home/ada/label.md','[["label.md","47cf5b9a9721bd0d7550e77d0bebefd82d5b5dcb0c441c9f15db620e5c43183d"]]','gpt-4o','5a16c51629b5175a9faa934c172b836ff2553ca8adf18c8c53a8ccbae5f16e77','2026-11-23T23:21:07.183Z',NULL,NULL,'done',NULL,NULL,'{"n":3}',1,'6fa8516ba81dbcaf','there','2026-11-23T23:21:07.189Z',5.53425199996127048507e-03,1,0,100,10,0,NULL,NULL,0,1,0);
INSERT INTO "run" VALUES('cb99e903f19e.2','batch','cb99e903f19e','2','label','/home/ada/label.md','[["label.md","47cf5b9a9721bd0d7550e77d0bebefd82d5b5dcb0c441c9f15db620e5c43183d"]]','gpt-4o','5f8124d54e4e2bf1dbad4901213e14a66b57321c44393742678aa8b1391f4106','2026-11-23T23:21:07.191Z',NULL,NULL,'interrupted','interrupted','interrupted',NULL,1,'6fa8516ba81dbcaf','there','2026-11-23T23:21:07.203Z',1.16453419996105367317e-02,1,0,100,10,0,NULL,NULL,1,2,0);
INSERT INTO "run" VALUES('fd1625de2840cf7d','mail','fd1625de2840cf7d','4444a94fff5ed51b','reader','/home/ada/reader.md','[["reader.md","4343f3036064270e9a023e45ab4ad5df028a47392e44e153dd69fb4e417accbc"]]','gpt-4o','5f8124d54e4e2bf1dbad4901213e14a66b57321c44393742678aa8b1391f4106','2026-11-23T23:21:07.227Z','{"text":"refused"}',NULL,'failed','provider','no such key',NULL,1,'00117947037f775c','there','2026-11-23T23:21:07.248Z',1.96133079998617176897e-02,1,0,100,10,0,NULL,NULL,1,NULL,0);
CREATE TABLE wave (
        id TEXT PRIMARY KEY, batch TEXT NOT NULL, number INTEGER NOT NULL, backend TEXT NOT NULL,
        service TEXT NOT NULL, model TEXT NOT NULL, lines INTEGER NOT NULL, held BIGINT NOT NULL,
        created TEXT NOT NULL, state TEXT NOT NULL, file TEXT NOT NULL, remote TEXT NOT NULL, ended TEXT,
        reason TEXT);
CREATE INDEX run_started ON run (started);
CREATE INDEX run_program ON run (program, started);
CREATE INDEX run_file ON run (file, started);
CREATE INDEX run_failed ON run (started) WHERE state <> 'done';
CREATE INDEX run_whole ON run (started) WHERE whole = 1;
CREATE INDEX run_batch ON run (batch, number);
CREATE INDEX batch_created ON batch (created);
CREATE INDEX message_place ON message (mailbox, place);
CREATE INDEX message_state ON message (mailbox, state, place);
CREATE INDEX message_run ON message (run);
CREATE INDEX message_reader ON message (reader);
CREATE INDEX message_ended ON message (ended);
CREATE INDEX pace_at ON pace (batch, service, at);
CREATE INDEX wave_batch ON wave (batch, number);
COMMIT;
