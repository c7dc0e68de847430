// Package migrations embeds the forward-only SQL migrations, one folder a
// database dialect. A file is never edited after it was released.
package migrations

import "embed"

// SQLite holds sqlite/NNNN_name.sql.
//
//go:embed sqlite/*.sql
var SQLite embed.FS

// Postgres holds postgres/NNNN_name.sql.
//
//go:embed postgres/*.sql
var Postgres embed.FS
