CREATE TABLE accounts (
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, period TEXT NOT NULL,
            spent_0 BIGINT NOT NULL DEFAULT 0, spent_1 BIGINT NOT NULL DEFAULT 0, spent_2 BIGINT NOT NULL DEFAULT 0, spent_3 BIGINT NOT NULL DEFAULT 0, spent_4 BIGINT NOT NULL DEFAULT 0, spent_5 BIGINT NOT NULL DEFAULT 0, spent_6 BIGINT NOT NULL DEFAULT 0, spent_7 BIGINT NOT NULL DEFAULT 0, spent_8 BIGINT NOT NULL DEFAULT 0, spent_9 BIGINT NOT NULL DEFAULT 0, spent_10 BIGINT NOT NULL DEFAULT 0, spent_11 BIGINT NOT NULL DEFAULT 0, spent_12 BIGINT NOT NULL DEFAULT 0,
            reserved BIGINT NOT NULL DEFAULT 0, charges BIGINT NOT NULL DEFAULT 0, clock BIGINT NOT NULL DEFAULT 0,
            PRIMARY KEY (dataset, analyst, period));
INSERT INTO "accounts" VALUES('meters','','',87500000000000000,0,0,0,0,0,0,0,0,0,0,0,0,0,4,1794807946075796);
INSERT INTO "accounts" VALUES('noisy','','',12345679012345680,3000000000000000000,0,0,0,0,0,0,0,0,0,0,0,0,1,1794807946017330);
INSERT INTO "accounts" VALUES('meters','ana','',125000000000000000,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1794807946068234);
INSERT INTO "accounts" VALUES('old','','',500000000000000000,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1794807946013288);
INSERT INTO "accounts" VALUES('monthly','','2026-01',250000000000000000,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1794807946027816);
INSERT INTO "accounts" VALUES('monthly','','2026-02',250000000000000000,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1794807946028136);
CREATE TABLE budgets (
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, terms TEXT NOT NULL, opened BIGINT NOT NULL, closed BIGINT,
            PRIMARY KEY (dataset, analyst));
INSERT INTO "budgets" VALUES('meters','','{"accepts":[],"collusion":"expected","delta":0.0,"epsilon":2.0,"kind":"budget","renews":null,"reserve":0.0,"rule":"pure","unit":{"kind":"user","relation":"add_remove"}}',1794807945975506,NULL);
INSERT INTO "budgets" VALUES('noisy','','{"accepts":[],"collusion":"expected","delta":1e-06,"epsilon":4.0,"kind":"budget","renews":null,"reserve":0.0,"rule":"gaussian","unit":{"kind":"user","relation":"add_remove"}}',1794807945993414,NULL);
INSERT INTO "budgets" VALUES('monthly','','{"accepts":[],"collusion":"expected","delta":0.0,"epsilon":1.0,"kind":"budget","renews":"1mo","reserve":0.0,"rule":"pure","unit":{"kind":"user","relation":"add_remove"}}',1794807946007096,NULL);
INSERT INTO "budgets" VALUES('meters','ana','{"accepts":[],"collusion":"expected","delta":0.0,"epsilon":0.5,"kind":"budget","renews":null,"reserve":0.0,"rule":"pure","unit":{"kind":"user","relation":"add_remove"}}',1794807946010210,NULL);
INSERT INTO "budgets" VALUES('old','','{"accepts":[],"collusion":"expected","delta":0.0,"epsilon":1.0,"kind":"budget","renews":null,"reserve":0.0,"rule":"pure","unit":{"kind":"user","relation":"add_remove"}}',1794807946011661,1794807946014720);
CREATE TABLE chains (dataset TEXT NOT NULL PRIMARY KEY, number BIGINT NOT NULL, digest TEXT NOT NULL);
INSERT INTO "chains" VALUES('meters',2,'5182b9033669178ce42a79646cba34ea0df14f63e096c395dcdb949eedad71be');
CREATE TABLE charges (
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, period TEXT NOT NULL, number BIGINT NOT NULL,
            cost TEXT NOT NULL, unit TEXT NOT NULL, amounts TEXT NOT NULL, purpose TEXT NOT NULL, made BIGINT NOT NULL,
            PRIMARY KEY (dataset, analyst, period, number));
INSERT INTO "charges" VALUES('old','','',1,'{"epsilon":0.5,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[500000000000000000, 0]','',1794807946013288);
INSERT INTO "charges" VALUES('noisy','','',1,'{"kind":"gaussian","sensitivity":1.0,"sigma":9.0}','{"kind":"user","relation":"add_remove"}','[12345679012345680, 3000000000000000000, 0]','by hand',1794807946017330);
INSERT INTO "charges" VALUES('monthly','','2026-01',1,'{"epsilon":0.25,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[250000000000000000, 0]','',1794807946027816);
INSERT INTO "charges" VALUES('monthly','','2026-02',1,'{"epsilon":0.25,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[250000000000000000, 0]','',1794807946028136);
INSERT INTO "charges" VALUES('meters','','',1,'{"epsilon":0.125,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[12500000000000000, 0]','january',1794807946061350);
INSERT INTO "charges" VALUES('meters','','',2,'{"epsilon":0.125,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[12500000000000000, 0]','february',1794807946066911);
INSERT INTO "charges" VALUES('meters','ana','',1,'{"epsilon":0.125,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[125000000000000000, 0]','february',1794807946068234);
INSERT INTO "charges" VALUES('meters','','',3,'{"epsilon":0.125,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[12500000000000000, 0]','lost',1794807946073401);
INSERT INTO "charges" VALUES('meters','','',4,'{"epsilon":0.5,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[50000000000000000, 0]','live',1794807946075796);
CREATE TABLE ledger_version (version BIGINT NOT NULL);
INSERT INTO "ledger_version" VALUES(1);
CREATE TABLE links (
            dataset TEXT NOT NULL, number BIGINT NOT NULL, body TEXT NOT NULL, signature TEXT NOT NULL,
            digest TEXT NOT NULL, PRIMARY KEY (dataset, number));
INSERT INTO "links" VALUES('meters',1,'{"certificate":{"claim":{"argument":"docs/explanation/proofs/noise.md","cost":{"epsilon":0.125,"kind":"pure"},"kind":"claim","unit":{"kind":"user","relation":"add_remove"}},"guarantee":{"assumptions":[],"delta":0.0,"epsilon":0.125,"kind":"guarantee","unit":{"kind":"user","relation":"add_remove"}},"kind":"certificate","mechanism":"Laplace noise on a count","precision":"integers on a grid","processing":[],"seeded":false,"theorem":"definition"},"dataset":"meters","issued":1794807946063527,"kind":"link","number":1,"previous":"0000000000000000000000000000000000000000000000000000000000000000","refresh":"never","release":"e17971dc6b216a7a028fa28b847c4199aea53881c6b2777d05325885083d4c7e","request":"january"}','e/OGyuc3nBb798U0xmeGd2yefmuJxRTr1e9pSGhJS/vzeci3bHfgVXPEcCgTqT7LyDWqOtRoKEzhGdrjySFNBQ==','bc697ebbb8336071a01642e01082b1f2fcca3d73954b9a39efc9a87fdbc17b8a');
INSERT INTO "links" VALUES('meters',2,'{"certificate":{"claim":{"argument":"docs/explanation/proofs/noise.md","cost":{"epsilon":0.125,"kind":"pure"},"kind":"claim","unit":{"kind":"user","relation":"add_remove"}},"guarantee":{"assumptions":[],"delta":0.0,"epsilon":0.125,"kind":"guarantee","unit":{"kind":"user","relation":"add_remove"}},"kind":"certificate","mechanism":"Laplace noise on a count","precision":"integers on a grid","processing":[],"seeded":false,"theorem":"definition"},"dataset":"meters","issued":1794807946069515,"kind":"link","number":2,"previous":"bc697ebbb8336071a01642e01082b1f2fcca3d73954b9a39efc9a87fdbc17b8a","refresh":"never","release":"95aab908ae2f4a0f14ffac29f3163e7357ca34cdf002f80469caccef719451b9","request":"february"}','OimTMsY3/36vDFAdL/NUFInJJ1Fh5OiHtYqGYk+Po8/4WrdnqZhac0CZEDjLBMaSIEL1pw+jUP8WwkN2V++SAw==','5182b9033669178ce42a79646cba34ea0df14f63e096c395dcdb949eedad71be');
CREATE TABLE requests (
            dataset TEXT NOT NULL, request TEXT NOT NULL, fingerprint TEXT NOT NULL, made BIGINT NOT NULL,
            link BIGINT, release TEXT,
            PRIMARY KEY (dataset, request));
INSERT INTO "requests" VALUES('meters','january','1a17edc6e50dde22f6503ab298611fa03f7d6e017308d4f60535f710f17cb8c0',1794807946060575,1,'[''january'']');
INSERT INTO "requests" VALUES('meters','february','33ea13103fd2048e0f2ee4dd031f1d79fc9fab792e62da8ba6315071a9687e52',1794807946066473,2,'[''february'']');
INSERT INTO "requests" VALUES('meters','lost','1a17edc6e50dde22f6503ab298611fa03f7d6e017308d4f60535f710f17cb8c0',1794807946073050,NULL,NULL);
CREATE TABLE steps (
            stream TEXT NOT NULL, step BIGINT NOT NULL, released TEXT NOT NULL, PRIMARY KEY (stream, step));
INSERT INTO "steps" VALUES('live',2,'["1.5", "2.5"]');
CREATE TABLE streams (
            name TEXT NOT NULL PRIMARY KEY, dataset TEXT NOT NULL, fingerprint TEXT NOT NULL, step BIGINT NOT NULL,
            state TEXT NOT NULL, finished BIGINT NOT NULL);
INSERT INTO "streams" VALUES('live','meters','plan',2,'PFCzrZJ0UllaXjv1as99GpuaJY8uE646aI67d82Y9TqI67w6Vg==',0);
CREATE INDEX unreleased ON requests (dataset) WHERE link IS NULL;
