// postgres.js: values typed by what the server says of a prepared statement.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const postgres = require("postgres");
const { SQL, GIVEN, numbered, run, copied } = require(`${process.env.DP_PROGRAMS}/each_feature.js`);

async function alone(work, more = {}) {
  const sql = postgres({ ssl: false, max: 1, onnotice: () => {}, ...more });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const values = async (sql, text, given = [], more = {}) =>
  (await sql.unsafe(text, given, more).values()).map((row) => row[0]);
const one = (text, given, more) => () =>
  alone(async (sql) => (await values(sql, text, given, more))[0]);

const parameters = {};
for (const [name, value] of Object.entries(GIVEN)) {
  parameters[`${name}_parameter`] = one(numbered(name), [value], { prepare: true });
}

const folder = path.dirname(require.resolve("postgres"));
const { version } = JSON.parse(fs.readFileSync(path.join(folder, "../../package.json"), "utf8"));

run(`postgres.js ${version}`, {
  connect: one(SQL.one),
  tls: () =>
    alone(async (sql) => (await values(sql, SQL.one))[0], {
      host: "localhost",
      port: Number(process.env.DP_TLS_PORT),
      ssl: { ca: fs.readFileSync(process.env.DP_CERTIFICATE, "utf8") },
    }),
  reflection: () =>
    alone(async (sql) => ({
      schemas: await values(sql, SQL.schemas),
      tables: await values(sql, SQL.tables),
      columns: await values(sql, SQL.columns),
    })),
  count: one(SQL.count),
  grouped_sum: () =>
    alone(async (sql) =>
      Object.fromEntries((await sql.unsafe(SQL.grouped_sum)).map((r) => [r.status, r.total])),
    ),
  ...parameters,
  prepared: () =>
    alone(async (sql) => {
      const count = (n) => sql`SELECT count(*) FROM shop.orders WHERE quantity >= ${n}`;
      return [(await count(2))[0].count, (await count(4))[0].count];
    }),
  time_range: one(SQL.time_range),
  transaction: () =>
    alone(async (sql) => {
      let n;
      await sql
        .begin(async (inside) => {
          [n] = await values(inside, SQL.count);
          await inside.unsafe(SQL.temporary);
          throw new Error("roll back");
        })
        .catch(() => {});
      return [n, (await values(sql, SQL.is_there))[0]];
    }),
  cancel: () =>
    alone(async (sql) => {
      const start = Date.now();
      const query = sql.unsafe(SQL.sleep).execute();
      setTimeout(() => query.cancel(), 500);
      try {
        await query;
      } catch (error) {
        return [error.code, (Date.now() - start) / 1000];
      }
    }),
  refusal: () =>
    alone(async (sql) => {
      try {
        await sql.unsafe(SQL.refused);
      } catch (error) {
        return [error.code, error.message, error.hint];
      }
    }),
  after_error: () =>
    alone(async (sql) => {
      await sql.unsafe(SQL.refused).catch(() => {});
      return (await values(sql, SQL.count))[0];
    }),
  temporary_table: () =>
    alone(async (sql) => {
      await sql.unsafe(SQL.temporary);
      return (await values(sql, SQL.read_temporary))[0];
    }),
  batches: () =>
    alone(async (sql) => {
      const found = [];
      await sql.unsafe(SQL.by_status).cursor(3, (rows) => {
        found.push(rows.length);
      });
      return found;
    }),
  copy: () => alone(async (sql) => copied(await sql.unsafe(SQL.copy).readable())),
});
