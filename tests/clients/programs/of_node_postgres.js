// node-postgres, with pg-cursor and pg-copy-streams.
"use strict";
const fs = require("node:fs");
const { Client, Query } = require("pg");
const Cursor = require("pg-cursor");
const { to } = require("pg-copy-streams");
const { SQL, GIVEN, numbered, run, copied } = require(`${process.env.DP_PROGRAMS}/each_feature.js`);

async function alone(work, more = {}) {
  const client = new Client({ ssl: false, ...more });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const values = async (client, text, given = []) =>
  (await client.query({ text, values: given, rowMode: "array" })).rows.map((row) => row[0]);
const one = (text, given) => () => alone(async (client) => (await values(client, text, given))[0]);

const parameters = {};
for (const [name, value] of Object.entries(GIVEN)) {
  parameters[`${name}_parameter`] = one(numbered(name), [value]);
}

run(`node-postgres ${require("pg/package.json").version}`, {
  connect: one(SQL.one),
  tls: () =>
    alone(async (client) => (await values(client, SQL.one))[0], {
      host: "localhost",
      port: Number(process.env.DP_TLS_PORT),
      ssl: { ca: fs.readFileSync(process.env.DP_CERTIFICATE, "utf8") },
    }),
  reflection: () =>
    alone(async (client) => ({
      schemas: await values(client, SQL.schemas),
      tables: await values(client, SQL.tables),
      columns: await values(client, SQL.columns),
    })),
  count: one(SQL.count),
  grouped_sum: () =>
    alone(async (client) =>
      Object.fromEntries((await client.query(SQL.grouped_sum)).rows.map((r) => [r.status, r.total])),
    ),
  ...parameters,
  prepared: () =>
    alone(async (client) => {
      const found = [];
      for (const n of [2, 4]) {
        const named = { name: "many", text: numbered("int"), values: [n] };
        found.push((await client.query(named)).rows[0].count);
      }
      return found;
    }),
  time_range: one(SQL.time_range),
  transaction: () =>
    alone(async (client) => {
      await client.query("BEGIN");
      const [n] = await values(client, SQL.count);
      await client.query(SQL.temporary);
      await client.query("ROLLBACK");
      return [n, (await values(client, SQL.is_there))[0]];
    }),
  cancel: () =>
    alone(async (client) => {
      const start = Date.now();
      const query = client.query(new Query(SQL.sleep));
      setTimeout(() => new Client({ ssl: false }).cancel(client, query), 500);
      const error = await new Promise((resolve) => query.on("error", resolve));
      return [error.code, (Date.now() - start) / 1000];
    }),
  refusal: () =>
    alone(async (client) => {
      try {
        await client.query(SQL.refused);
      } catch (error) {
        return [error.code, error.message, error.hint];
      }
    }),
  after_error: () =>
    alone(async (client) => {
      await client.query(SQL.refused).catch(() => {});
      return (await values(client, SQL.count))[0];
    }),
  temporary_table: () =>
    alone(async (client) => {
      await client.query(SQL.temporary);
      return (await values(client, SQL.read_temporary))[0];
    }),
  batches: () =>
    alone(async (client) => {
      const cursor = client.query(new Cursor(SQL.by_status));
      const found = [(await cursor.read(3)).length, (await cursor.read(3)).length];
      await cursor.close();
      return found;
    }),
  copy: () => alone((client) => copied(client.query(to(SQL.copy)))),
});
