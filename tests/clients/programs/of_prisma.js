// Prisma with its adapter for pg: a client that is generated for the demo's shop.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");
const { SQL, GIVEN, run, NotApplicable } = require(`${process.env.DP_PROGRAMS}/each_feature.js`);

const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, DP_TLS_PORT, DP_CERTIFICATE } = process.env;
const PROJECT = path.join(process.env.DP_FOLDER, "prisma");
const PACKAGES = process.env.NODE_PATH;
const PRISMA = path.join(PACKAGES, ".bin", "prisma");
const SCHEMA = `
generator client {
  provider = "prisma-client-js"
  output   = "./client"
}
datasource db {
  provider = "postgresql"
  schemas  = ["shop"]
}`;
const MODELS = `
model Order {
  id          Int      @id
  customer_id Int
  status      String
  quantity    Int
  total       Decimal
  created_at  DateTime @db.Timestamptz(6)
  customer    Customer @relation(fields: [customer_id], references: [id])
  @@map("orders")
  @@schema("shop")
}
model Customer {
  id     Int     @id
  state  String
  orders Order[]
  @@map("customers")
  @@schema("shop")
}`;
const CONFIG = `module.exports = { schema: "schema.prisma", datasource: { url: process.env.DATABASE_URL } };`;
const URL = `postgresql://${PGUSER}:${encodeURIComponent(PGPASSWORD)}@${PGHOST}:${PGPORT}/${PGDATABASE}`;

function prisma(more, ...words) {
  const env = { ...process.env, DATABASE_URL: URL, CHECKPOINT_DISABLE: "1", ...more };
  return execFileSync(PRISMA, words, { cwd: PROJECT, env, encoding: "utf8", stdio: "pipe" });
}

function generated() {
  fs.mkdirSync(PROJECT);
  fs.symlinkSync(PACKAGES, path.join(PROJECT, "node_modules"));
  fs.writeFileSync(path.join(PROJECT, "prisma.config.js"), CONFIG);
  fs.writeFileSync(path.join(PROJECT, "schema.prisma"), SCHEMA + MODELS);
  // It looks for its engine of schemas, which it does not need here and would fetch.
  prisma({ PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }, "generate");
  return require(path.join(PROJECT, "client"));
}

const { PrismaClient } = generated();
const { PrismaPg } = require("@prisma/adapter-pg");

async function alone(work, more = {}) {
  const settings = { host: PGHOST, port: Number(PGPORT), user: PGUSER, password: PGPASSWORD };
  const adapter = new PrismaPg({ ...settings, database: PGDATABASE, max: 1, ...more });
  const client = new PrismaClient({ adapter });
  try {
    return await work(client);
  } finally {
    await client.$disconnect();
  }
}

const one = async (client) => (await client.$queryRaw`SELECT 1 AS one`)[0].one;
const counted = (where) => () => alone((client) => client.order.count({ where }));

function introspected() {
  fs.writeFileSync(path.join(PROJECT, "schema.prisma"), SCHEMA);
  try {
    const printed = prisma({}, "db", "pull", "--print");
    return printed.match(/model orders \{[^}]*/)[0].split("\n").map((line) => line.trim().split(/\s+/)[0]);
  } catch (error) {
    const said = `${error.stdout}${error.stderr}`;
    const missing = said.match(/request to \S+schema-engine\S+ failed, reason: getaddrinfo (\w+)/);
    if (missing) throw new NotApplicable(`db pull fetches an engine, which could not be had: ${missing[1]}`);
    throw new Error(said);
  }
}

run(`Prisma ${require("prisma/package.json").version}`, {
  connect: () => alone(one),
  tls: () =>
    alone(one, {
      host: "localhost",
      port: Number(DP_TLS_PORT),
      ssl: { ca: fs.readFileSync(DP_CERTIFICATE, "utf8") },
    }),
  introspection: introspected,
  count: counted(),
  text_parameter: counted({ status: GIVEN.text }),
  timestamp_parameter: counted({ created_at: { gte: GIVEN.timestamp } }),
  list_parameter: counted({ status: { in: GIVEN.list } }),
  aggregate: () =>
    alone(async (client) => {
      const found = await client.order.aggregate({
        _count: true,
        _sum: { total: true },
        _avg: { total: true },
        _min: { quantity: true },
        _max: { quantity: true },
      });
      const { _count, _sum, _avg, _min, _max } = found;
      return [_count, _sum.total, _avg.total, _min.quantity, _max.quantity];
    }),
  grouped_sum: () =>
    alone(async (client) => {
      const rows = await client.order.groupBy({ by: ["status"], _sum: { total: true }, orderBy: { status: "asc" } });
      return Object.fromEntries(rows.map((row) => [row.status, row._sum.total]));
    }),
  having: () =>
    alone(async (client) => {
      const having = { id: { _count: { gt: 10_000 } } };
      const rows = await client.order.groupBy({ by: ["status"], _count: { id: true }, having });
      return Object.fromEntries(rows.map((row) => [row.status, row._count.id]));
    }),
  related: counted({ customer: { state: "CA" } }),
  raw: () =>
    alone(async (client) => {
      const [row] = await client.$queryRawUnsafe(SQL.int.replace("?", "$1"), GIVEN.int);
      return String(row.count);
    }),
  two_counts: () =>
    alone((client) =>
      client.$transaction([client.order.count(), client.order.count({ where: { quantity: { gte: 0 } } })]),
    ),
  refusal: () =>
    alone(async (client) => {
      try {
        await client.order.findMany({ take: 10 });
      } catch (error) {
        return [null, error.message, error.message]; // it shows no hints
      }
    }),
  after_error: () =>
    alone(async (client) => {
      await client.order.findMany({ take: 10 }).catch(() => {});
      return client.order.count();
    }),
});
