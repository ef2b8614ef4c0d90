// Sequelize with pg: models of the demo's shop, and what they write by default.
"use strict";
const fs = require("node:fs");
const { Sequelize, DataTypes, Op, fn, col, literal } = require("sequelize");
const { SQL, GIVEN, run } = require(`${process.env.DP_PROGRAMS}/each_feature.js`);

const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, DP_TLS_PORT, DP_CERTIFICATE } = process.env;

async function alone(work, more = {}) {
  const options = { host: PGHOST, port: Number(PGPORT), dialect: "postgres", logging: false, ...more };
  const sequelize = new Sequelize(PGDATABASE, PGUSER, PGPASSWORD, options);
  const table = { schema: "shop", timestamps: false };
  const Customer = sequelize.define(
    "Customer",
    { state: DataTypes.STRING },
    { ...table, tableName: "customers" },
  );
  const Order = sequelize.define(
    "Order",
    {
      customer_id: DataTypes.INTEGER,
      status: DataTypes.STRING,
      quantity: DataTypes.INTEGER,
      total: DataTypes.DECIMAL,
      created_at: DataTypes.DATE,
    },
    { ...table, tableName: "orders" },
  );
  Order.belongsTo(Customer, { foreignKey: "customer_id" });
  try {
    return await work({ sequelize, Order, Customer });
  } finally {
    await sequelize.close();
  }
}

const one = async (sequelize) => (await sequelize.query(SQL.one, { type: "SELECT" }))[0]["?column?"];
const counted = (where, include) => () => alone(({ Order }) => Order.count({ where, include }));
const pairs = (rows, name) => Object.fromEntries(rows.map((row) => [row.get("status"), row.get(name)]));

run(`Sequelize ${require("sequelize/package.json").version}`, {
  connect: () =>
    alone(async ({ sequelize }) => {
      await sequelize.authenticate();
      return one(sequelize);
    }),
  tls: () =>
    alone(({ sequelize }) => one(sequelize), {
      host: "localhost",
      port: Number(DP_TLS_PORT),
      dialectOptions: { ssl: { ca: fs.readFileSync(DP_CERTIFICATE, "utf8") } },
    }),
  introspection: () =>
    alone(async ({ sequelize }) =>
      Object.keys(await sequelize.getQueryInterface().describeTable({ tableName: "orders", schema: "shop" })),
    ),
  count: counted(),
  text_parameter: counted({ status: GIVEN.text }),
  timestamp_parameter: counted({ created_at: { [Op.gte]: GIVEN.timestamp } }),
  list_parameter: counted({ status: GIVEN.list }),
  aggregate: () =>
    alone(async ({ Order }) => [
      await Order.count(),
      await Order.sum("total"),
      await Order.aggregate("total", "avg", { dataType: "float" }),
      await Order.min("quantity"),
      await Order.max("quantity"),
    ]),
  grouped_sum: () =>
    alone(async ({ Order }) => {
      const attributes = ["status", [fn("sum", col("total")), "total"]];
      return pairs(await Order.findAll({ attributes, group: "status", order: ["status"] }), "total");
    }),
  having: () =>
    alone(async ({ Order }) => {
      const attributes = ["status", [fn("count", col("id")), "n"]];
      const having = literal("count(id) > 10000");
      return pairs(await Order.findAll({ attributes, group: "status", having }), "n");
    }),
  related: () => alone(({ Order, Customer }) => Order.count({ include: { model: Customer, where: { state: "CA" } } })),
  raw: () =>
    alone(async ({ sequelize }) => {
      const options = { replacements: [GIVEN.int], type: "SELECT" };
      return (await sequelize.query(SQL.int, options))[0].count;
    }),
  two_counts: () =>
    alone(({ sequelize, Order }) =>
      sequelize.transaction(async (transaction) => [
        await Order.count({ transaction }),
        await Order.count({ where: { quantity: { [Op.gte]: 0 } }, transaction }),
      ]),
    ),
  refusal: () =>
    alone(async ({ Order }) => {
      try {
        await Order.findAll({ limit: 10 });
      } catch (error) {
        return [error.original.code, error.message, error.original.hint];
      }
    }),
  after_error: () =>
    alone(
      async ({ Order }) => {
        await Order.findAll({ limit: 10 }).catch(() => {});
        return Order.count();
      },
      { pool: { max: 1 } },
    ),
});
