// pgjdbc: metadata, prepared statements from the first use on, cursors by fetch size, CopyManager.

import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

public class OfPgjdbc {
  static final Map<String, String> SQL = new HashMap<>();
  static final Map<String, String> ENV = System.getenv();

  interface Work {
    Object of(Connection connection) throws Exception;
  }

  interface Setting {
    void on(PreparedStatement statement) throws SQLException;
  }

  static Connection connected(String host, String port, String more) throws SQLException {
    String url = "jdbc:postgresql://" + host + ":" + port + "/" + ENV.get("PGDATABASE") + "?" + more;
    return DriverManager.getConnection(url, ENV.get("PGUSER"), ENV.get("PGPASSWORD"));
  }

  static Object alone(Work work) throws Exception {
    String more = "sslmode=disable&prepareThreshold=1";
    try (Connection connection = connected(ENV.get("PGHOST"), ENV.get("PGPORT"), more)) {
      return work.of(connection);
    }
  }

  static List<String> texts(ResultSet rows, int column) throws SQLException {
    List<String> found = new ArrayList<>();
    while (rows.next()) {
      found.add(rows.getString(column));
    }
    return found;
  }

  static Object one(Connection connection, String name) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return texts(statement.executeQuery(SQL.get(name)), 1).get(0);
    }
  }

  static Object given(String name, Setting setting) throws Exception {
    return alone(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(SQL.get(name))) {
            setting.on(statement);
            return texts(statement.executeQuery(), 1).get(0);
          }
        });
  }

  static void execute(Connection connection, String name) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(SQL.get(name));
    }
  }

  static Object tls() throws Exception {
    String more = "sslmode=verify-full&sslrootcert=" + ENV.get("DP_CERTIFICATE");
    try (Connection connection = connected("localhost", ENV.get("DP_TLS_PORT"), more)) {
      return one(connection, "one");
    }
  }

  static Object reflection(Connection connection) throws SQLException {
    var meta = connection.getMetaData();
    meta.getPrimaryKeys(null, "shop", "orders").close();
    meta.getImportedKeys(null, "shop", "orders").close();
    meta.getIndexInfo(null, "shop", "orders", false, true).close();
    meta.getTypeInfo().close();
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("schemas", texts(meta.getSchemas(), 1));
    found.put("tables", texts(meta.getTables(null, "shop", "%", new String[] {"TABLE"}), 3));
    found.put("columns", texts(meta.getColumns(null, "shop", "orders", "%"), 4));
    return found;
  }

  static Object groupedSum(Connection connection) throws SQLException {
    Map<String, Object> found = new LinkedHashMap<>();
    try (Statement statement = connection.createStatement()) {
      ResultSet rows = statement.executeQuery(SQL.get("grouped_sum"));
      while (rows.next()) {
        found.put(rows.getString("status"), rows.getBigDecimal("total"));
      }
    }
    return found;
  }

  static Object prepared(Connection connection) throws SQLException {
    List<Object> found = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(SQL.get("int"))) {
      for (int n : new int[] {2, 4}) {
        statement.setInt(1, n);
        ResultSet rows = statement.executeQuery();
        rows.next();
        found.add(rows.getLong(1));
      }
    }
    return found;
  }

  static Object transaction(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    Object n = one(connection, "count");
    execute(connection, "temporary");
    connection.rollback();
    return List.of(n, one(connection, "is_there"));
  }

  static Object cancel(Connection connection) throws Exception {
    try (Statement statement = connection.createStatement()) {
      long start = System.nanoTime();
      new Thread(
              () -> {
                try {
                  Thread.sleep(500);
                  statement.cancel();
                } catch (Exception ignored) {
                  // then the statement ends by itself, too late
                }
              })
          .start();
      try {
        statement.execute(SQL.get("sleep"));
        return null;
      } catch (SQLException error) {
        return List.of(error.getSQLState(), (System.nanoTime() - start) / 1e9);
      }
    }
  }

  static Object refusal(Connection connection) throws SQLException {
    try {
      execute(connection, "refused");
      return null;
    } catch (PSQLException error) {
      var of = error.getServerErrorMessage();
      return List.of(error.getSQLState(), of.getMessage(), of.getHint());
    }
  }

  static Object afterError(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    refusal(connection);
    connection.rollback();
    return one(connection, "count");
  }

  static Object temporaryTable(Connection connection) throws SQLException {
    execute(connection, "temporary");
    return one(connection, "read_temporary");
  }

  static Object batches(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(3);
      int rows = texts(statement.executeQuery(SQL.get("by_status")), 1).size();
      return List.of(Math.min(rows, 3), rows - 3);
    }
  }

  static Object copy(Connection connection) throws Exception {
    StringWriter written = new StringWriter();
    connection.unwrap(PGConnection.class).getCopyAPI().copyOut(SQL.get("copy"), written);
    Map<String, Object> found = new LinkedHashMap<>();
    for (String line : written.toString().strip().split("\n")) {
      found.put(line.split("\t")[0], line.split("\t")[1]);
    }
    return found;
  }

  static String json(Object value) {
    if (value instanceof Map<?, ?> map) {
      List<String> parts = new ArrayList<>();
      map.forEach((key, of) -> parts.add(json(key) + ": " + json(of)));
      return "{" + String.join(", ", parts) + "}";
    }
    if (value instanceof List<?> list) {
      return "[" + String.join(", ", list.stream().map(OfPgjdbc::json).toList()) + "]";
    }
    if (value == null || value instanceof Number) {
      return String.valueOf(value);
    }
    String text = value.toString().replace("\\", "\\\\").replace("\"", "\\\"");
    return "\"" + text.replace("\n", "\\n").replace("\t", "\\t") + "\"";
  }

  interface Feature {
    Object run() throws Exception;
  }

  public static void main(String[] only) throws Exception {
    for (String line : Files.readAllLines(Path.of(ENV.get("DP_PROGRAMS"), "statements.txt"))) {
      SQL.put(line.split(" = ", 2)[0], line.split(" = ", 2)[1]);
    }
    System.out.println(
        json(Map.of("version", "pgjdbc " + org.postgresql.util.DriverInfo.DRIVER_VERSION)));
    Map<String, Feature> features = new LinkedHashMap<>();
    features.put("connect", () -> alone(c -> one(c, "one")));
    features.put("tls", OfPgjdbc::tls);
    features.put("reflection", () -> alone(OfPgjdbc::reflection));
    features.put("count", () -> alone(c -> one(c, "count")));
    features.put("grouped_sum", () -> alone(OfPgjdbc::groupedSum));
    features.put("int_parameter", () -> given("int", s -> s.setInt(1, 3)));
    features.put("text_parameter", () -> given("text", s -> s.setString(1, "paid")));
    features.put("date_parameter", () -> given("date", s -> s.setDate(1, Date.valueOf("1990-01-01"))));
    features.put(
        "timestamp_parameter",
        () ->
            given(
                "timestamp",
                s -> s.setTimestamp(1, Timestamp.from(Instant.parse("2025-01-01T00:00:00Z")))));
    features.put(
        "list_parameter",
        () ->
            given(
                "list",
                s ->
                    s.setArray(
                        1,
                        s.getConnection().createArrayOf("text", new String[] {"paid", "shipped"}))));
    features.put("null_parameter", () -> given("null", s -> s.setNull(1, Types.VARCHAR)));
    features.put("prepared", () -> alone(OfPgjdbc::prepared));
    features.put("time_range", () -> alone(c -> one(c, "time_range")));
    features.put("transaction", () -> alone(OfPgjdbc::transaction));
    features.put("cancel", () -> alone(OfPgjdbc::cancel));
    features.put("refusal", () -> alone(OfPgjdbc::refusal));
    features.put("after_error", () -> alone(OfPgjdbc::afterError));
    features.put("temporary_table", () -> alone(OfPgjdbc::temporaryTable));
    features.put("batches", () -> alone(OfPgjdbc::batches));
    features.put("copy", () -> alone(OfPgjdbc::copy));
    Set<String> wanted = Set.of(only);
    for (var feature : features.entrySet()) {
      if (!wanted.isEmpty() && !wanted.contains(feature.getKey())) {
        continue;
      }
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("feature", feature.getKey());
      try {
        line.put("value", feature.getValue().run());
      } catch (Exception error) {
        line.put("error", error.toString());
      }
      System.out.println(json(line));
    }
  }
}
