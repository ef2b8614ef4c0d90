# R with DBI, dplyr and dbplyr, through RPostgreSQL, which writes values into the text of a statement.
suppressPackageStartupMessages({
  library(DBI)
  library(dplyr)
  library(dbplyr)
})

env <- function(name) Sys.getenv(name)
lines <- readLines(file.path(env("DP_PROGRAMS"), "statements.txt"))
SQL <- setNames(as.list(sub("^[a-z_]+ = ", "", lines)), sub(" = .*", "", lines))

connected <- function(more = "sslmode=disable", host = env("PGHOST"), port = env("PGPORT")) {
  dbConnect(
    RPostgreSQL::PostgreSQL(),
    dbname = paste0("dbname=", env("PGDATABASE"), " ", more),
    host = host, port = as.integer(port), user = env("PGUSER"), password = env("PGPASSWORD")
  )
}

alone <- function(work) {
  session <- connected()
  on.exit(dbDisconnect(session))
  work(session)
}

# The driver warns of types that it does not know; what fails, fails.
one <- function(session, sql) suppressWarnings(dbGetQuery(session, sql))[[1]][1]
orders <- function(session) tbl(session, in_schema("shop", "orders"))
people <- function(session) tbl(session, in_schema("shop", "customers"))
counted <- function(rows) pull(summarise(rows, n = n()), n)

# What PostgreSQL said, of a statement that fails: RPostgreSQL reports it in a warning or an error.
heard <- function(session, sql) {
  said <- ""
  withCallingHandlers(
    tryCatch(dbGetQuery(session, sql), error = function(e) said <<- paste(said, conditionMessage(e))),
    warning = function(w) {
      said <<- paste(said, conditionMessage(w))
      invokeRestart("muffleWarning")
    }
  )
  paste(said, dbGetException(session)$errorMsg)
}

tls <- function() {
  way <- paste0("sslmode=verify-full sslrootcert=", env("DP_CERTIFICATE"))
  session <- connected(way, "localhost", env("DP_TLS_PORT"))
  on.exit(dbDisconnect(session))
  one(session, SQL$one)
}

interpolated <- function(session, name, value) {
  one(session, sqlInterpolate(session, SQL[[name]], value))
}

features <- list(
  connect = function() alone(function(s) one(s, SQL$one)),
  tls = tls,
  reflection = function() alone(function(s) list(
    schemas = I(dbGetQuery(s, SQL$schemas)[[1]]),
    tables = I(dbGetQuery(s, SQL$tables)[[1]]),
    columns = I(colnames(orders(s)))
  )),
  count = function() alone(function(s) counted(orders(s))),
  grouped_sum = function() alone(function(s) {
    frame <- orders(s) |>
      group_by(status) |>
      summarise(total = sum(total, na.rm = TRUE)) |>
      arrange(status) |>
      collect()
    as.list(setNames(frame$total, frame$status))
  }),
  int_parameter = function() alone(function(s) counted(filter(orders(s), quantity >= 3L))),
  text_parameter = function() alone(function(s) interpolated(s, "text", "paid")),
  date_parameter = function() alone(function(s) {
    counted(filter(people(s), birth_date >= as.Date("1990-01-01")))
  }),
  timestamp_parameter = function() alone(function(s) {
    since <- as.POSIXct("2025-01-01", tz = "UTC")
    counted(filter(orders(s), created_at >= since))
  }),
  list_parameter = function() alone(function(s) {
    counted(filter(orders(s), status %in% c("paid", "shipped")))
  }),
  null_parameter = function() alone(function(s) interpolated(s, "null", NA_character_)),
  prepared = function() alone(function(s) {
    dbGetQuery(s, paste("PREPARE many(int) AS", sub("?", "$1", SQL$int, fixed = TRUE)))
    I(sapply(c(2, 4), function(n) one(s, sprintf("EXECUTE many(%d)", n))))
  }),
  time_range = function() alone(function(s) one(s, SQL$time_range)),
  transaction = function() alone(function(s) {
    dbBegin(s)
    n <- one(s, SQL$count)
    dbGetQuery(s, SQL$temporary)
    dbRollback(s)
    I(c(n, one(s, SQL$is_there)))
  }),
  cancel = function() structure("RPostgreSQL has no cancel", class = "absent"),
  refusal = function() alone(function(s) {
    said <- heard(s, SQL$refused)
    list(NULL, said, said)
  }),
  after_error = function() alone(function(s) {
    heard(s, SQL$refused)
    one(s, SQL$count)
  }),
  temporary_table = function() alone(function(s) {
    answers <- orders(s) |> group_by(status) |> summarise(n = n()) |> compute(name = "answers")
    one(s, SQL$read_temporary)
  }),
  batches = function() alone(function(s) {
    result <- dbSendQuery(s, SQL$by_status)
    found <- c(nrow(fetch(result, n = 3)), nrow(fetch(result, n = 3)))
    dbClearResult(result)
    I(found)
  }),
  copy = function() structure("RPostgreSQL copies in only", class = "absent")
)

say <- function(line) cat(jsonlite::toJSON(line, auto_unbox = TRUE, null = "null", digits = 15), "\n", sep = "")

version <- sprintf("dbplyr %s, RPostgreSQL %s", packageVersion("dbplyr"), packageVersion("RPostgreSQL"))
say(list(version = version))
for (name in names(features)) {
  line <- tryCatch({
    value <- suppressWarnings(features[[name]]())
    if (inherits(value, "absent")) {
      list(feature = name, not_applicable = as.character(value))
    } else {
      list(feature = name, value = value)
    }
  }, error = function(e) list(feature = name, error = conditionMessage(e)))
  say(line)
}
