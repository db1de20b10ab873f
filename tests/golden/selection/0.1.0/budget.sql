BEGIN TRANSACTION;
CREATE TABLE accounts (
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, period TEXT NOT NULL,
            spent_0 BIGINT NOT NULL DEFAULT 0, spent_1 BIGINT NOT NULL DEFAULT 0, spent_2 BIGINT NOT NULL DEFAULT 0, spent_3 BIGINT NOT NULL DEFAULT 0, spent_4 BIGINT NOT NULL DEFAULT 0, spent_5 BIGINT NOT NULL DEFAULT 0, spent_6 BIGINT NOT NULL DEFAULT 0, spent_7 BIGINT NOT NULL DEFAULT 0, spent_8 BIGINT NOT NULL DEFAULT 0, spent_9 BIGINT NOT NULL DEFAULT 0, spent_10 BIGINT NOT NULL DEFAULT 0, spent_11 BIGINT NOT NULL DEFAULT 0, spent_12 BIGINT NOT NULL DEFAULT 0,
            reserved BIGINT NOT NULL DEFAULT 0, charges BIGINT NOT NULL DEFAULT 0, clock BIGINT NOT NULL DEFAULT 0,
            PRIMARY KEY (dataset, analyst, period));
INSERT INTO "accounts" VALUES('survey','','',3000000000000000000,200000000000000000,0,0,0,0,0,0,0,0,0,0,0,0,2,1794857272922754);
CREATE TABLE budgets (
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, terms TEXT NOT NULL, opened BIGINT NOT NULL, closed BIGINT,
            PRIMARY KEY (dataset, analyst));
INSERT INTO "budgets" VALUES('survey','','{"accepts":[],"collusion":"expected","delta":1e-06,"epsilon":4.0,"kind":"budget","renews":null,"reserve":0.0,"rule":"gaussian","unit":{"kind":"user","relation":"add_remove"}}',1794857272892441,NULL);
CREATE TABLE chains (dataset TEXT NOT NULL PRIMARY KEY, number BIGINT NOT NULL, digest TEXT NOT NULL);
INSERT INTO "chains" VALUES('survey',2,'a616deb978501c85aa4ae5b684b858dc87c11cb52c04bdcadd8b369b3656cbd8');
CREATE TABLE charges (
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, period TEXT NOT NULL, number BIGINT NOT NULL,
            cost TEXT NOT NULL, unit TEXT NOT NULL, amounts TEXT NOT NULL, purpose TEXT NOT NULL, made BIGINT NOT NULL,
            PRIMARY KEY (dataset, analyst, period, number));
INSERT INTO "charges" VALUES('survey','','',1,'{"epsilon":1.0,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[1517911190743476816, 100000000000000000, 0]','exponential',1794857272909557);
INSERT INTO "charges" VALUES('survey','','',2,'{"epsilon":1.0,"kind":"pure"}','{"kind":"user","relation":"add_remove"}','[1517911190743476816, 100000000000000000, 0]','flip',1794857272922754);
CREATE TABLE ledger_version (version BIGINT NOT NULL);
INSERT INTO "ledger_version" VALUES(1);
CREATE TABLE links (
            dataset TEXT NOT NULL, number BIGINT NOT NULL, body TEXT NOT NULL, signature TEXT NOT NULL,
            digest TEXT NOT NULL, PRIMARY KEY (dataset, number));
INSERT INTO "links" VALUES('survey',1,'{"certificate":{"claim":{"argument":"docs/explanation/proofs/selection.md","cost":{"epsilon":1.0,"kind":"pure"},"kind":"claim","unit":{"kind":"user","relation":"add_remove"}},"guarantee":{"assumptions":[],"delta":0.0,"epsilon":1.0,"kind":"guarantee","unit":{"kind":"user","relation":"add_remove"}},"kind":"certificate","mechanism":"one of 3 candidates; exponential mechanism, monotone utilities of change 1","precision":"utilities in whole steps of 9.53674e-07; exact coins, slope rounded down","processing":[],"seeded":true,"theorem":"definition (pure)"},"dataset":"survey","issued":1794857272912845,"kind":"link","number":1,"previous":"0000000000000000000000000000000000000000000000000000000000000000","refresh":"never","release":"28221b2effb6c701e6b9e5ea93687f7ce3dbfd35f5743d847756d886120a8dfe","request":"exponential"}','DTsnyWRG6Xh3N7TXn4vC9WswaVNf35tiFfrvfGqgrW5q38fO/jtWTv9nNQkD0gv2s5xlF0ea4EsxFnPnIfa6Dw==','c6b95bb7e56d7ffa0ee8335e2fb142689fdcc902fc5367c123a93dd29f193890');
INSERT INTO "links" VALUES('survey',2,'{"certificate":{"claim":{"argument":"docs/explanation/proofs/selection.md","cost":{"epsilon":1.0,"kind":"pure"},"kind":"claim","unit":{"kind":"user","relation":"add_remove"}},"guarantee":{"assumptions":[],"delta":0.0,"epsilon":1.0,"kind":"guarantee","unit":{"kind":"user","relation":"add_remove"}},"kind":"certificate","mechanism":"one of 3 candidates; permute-and-flip, monotone utilities of change 1","precision":"utilities in whole steps of 9.53674e-07; exact coins, slope rounded down","processing":[],"seeded":true,"theorem":"definition (pure)"},"dataset":"survey","issued":1794857272924624,"kind":"link","number":2,"previous":"c6b95bb7e56d7ffa0ee8335e2fb142689fdcc902fc5367c123a93dd29f193890","refresh":"never","release":"68dc22cabf4efcb46de2330e74fd9d319be14ed9765b858beddbdb8f0dd0a132","request":"flip"}','jgfjx4dEtsiihqNsRyaR0pNB/xi0IbVG0csjDC3rq81M63lvL0wk0hivIDWHOpgjyPVEpEHHzZonSAqm+beEBA==','a616deb978501c85aa4ae5b684b858dc87c11cb52c04bdcadd8b369b3656cbd8');
CREATE TABLE requests (
            dataset TEXT NOT NULL, request TEXT NOT NULL, fingerprint TEXT NOT NULL, made BIGINT NOT NULL,
            link BIGINT, release TEXT,
            PRIMARY KEY (dataset, request));
INSERT INTO "requests" VALUES('survey','exponential','3335cf5d18048a60c8306c889cd29b0b5e5a60a032b39c2f92517b17319a964e',1794857272904539,1,'{"design":{"candidates":["red","green","blue"],"change":1.0,"epsilon":1.0,"kind":"choice","mechanism":{"kind":"exponential_mechanism"},"monotone":true,"purpose":"","step":9.5367431640625e-07,"unit":{"kind":"user","relation":"add_remove"}},"kind":"choice","place":1}');
INSERT INTO "requests" VALUES('survey','flip','e92c4701a8fbf3159032b1de91f873becce47cb33eb5f65edc131bb28792cac4',1794857272922658,2,'{"design":{"candidates":["red","green","blue"],"change":1.0,"epsilon":1.0,"kind":"choice","mechanism":{"kind":"permute_and_flip"},"monotone":true,"purpose":"","step":9.5367431640625e-07,"unit":{"kind":"user","relation":"add_remove"}},"kind":"choice","place":1}');
CREATE TABLE steps (
            stream TEXT NOT NULL, step BIGINT NOT NULL, released TEXT NOT NULL, PRIMARY KEY (stream, step));
CREATE TABLE streams (
            name TEXT NOT NULL PRIMARY KEY, dataset TEXT NOT NULL, fingerprint TEXT NOT NULL, step BIGINT NOT NULL,
            state TEXT NOT NULL, finished BIGINT NOT NULL);
CREATE INDEX unreleased ON requests (dataset) WHERE link IS NULL;
COMMIT;
