// Package postgres is the way to a PostgreSQL server, for models/db only: a database/sql
// driver on pgx that takes our statements as they are written, in the part of SQLite's language that models/db/dialect.go
// names, and says them in PostgreSQL's (Translate). Times come back in UTC, and a connection on which a commit would not
// wait for the disk is refused.
package postgres
