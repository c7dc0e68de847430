package ledger

import (
	"fmt"
	"strings"

	"countersign/models/db"
)

// The keys of entries are stored in batches, behind the head: one by one they cost four pages an entry, which was most
// of what an ask wrote. So entries are found in two places, each with a bound: indexed ones in ledger_keys, by its
// primary key, and the tail after it in the ledger itself. Both and how far the index goes (ledger_head.indexed) change
// in one transaction: a query, which is one statement, sees each entry in one of them.

// maxTail is how many entries a commit may leave without keys: with more a list takes longer,
// with fewer an ask writes more.
const maxTail = 200

// KeyKind is what entries are found by.
type KeyKind int

// The kinds of keys. They are stored: a new one needs a migration.
const (
	ByOwner KeyKind = iota + 1
	ByActor
	ByConversation
	ByAction
)

// keyColumns are where an entry has its keys. An empty one is no key.
var keyColumns = [...]string{
	ByOwner: "owner_id", ByActor: "actor_id", ByConversation: "conversation_id", ByAction: "action",
}

const (
	firstOfTail = `(SELECT indexed + 1 FROM ledger_head WHERE id = 1)`
	inTail      = `seq >= ` + firstOfTail
)

// IndexTail stores the keys of all entries that have none yet, in their order: page by
// page.
var IndexTail = `INSERT INTO ledger_keys (kind, key, seq) ` +
	ofEachKind(`SELECT %[1]d, %[2]s, seq FROM ledger WHERE `+inTail+` AND %[2]s <> ''`, ` UNION ALL `) +
	` ORDER BY 1, 2, 3`

// StrayKeys selects keys that are stored and that no indexed entry has.
var StrayKeys = `SELECT k.kind || ' ' || k.key || ' ' || k.seq FROM ledger_keys k LEFT JOIN ledger l ON l.seq = k.seq
 WHERE k.key IS NOT CASE k.kind ` + ofEachKind(`WHEN %[1]d THEN l.%[2]s`, ` `) + ` END OR k.key = '' OR k.seq >= ` + firstOfTail

// MissingKeys selects keys of indexed entries that are not stored.
var MissingKeys = ofEachKind(`SELECT %[1]d || ' ' || l.%[2]s || ' ' || l.seq FROM ledger l WHERE l.seq < `+firstOfTail+` AND l.%[2]s <> ''
 AND NOT EXISTS (SELECT 1 FROM ledger_keys k WHERE k.kind = %[1]d AND k.key = l.%[2]s AND k.seq = l.seq)`, ` UNION ALL `)

// ofEachKind has a piece of SQL for each kind of key: %[1]d is its number, %[2]s its column.
func ofEachKind(piece, between string) string {
	var pieces []string
	for kind := ByOwner; kind <= ByAction; kind++ {
		pieces = append(pieces, fmt.Sprintf(piece, kind, keyColumns[kind]))
	}
	return strings.Join(pieces, between)
}

// storeKeys keeps the tail short. It runs after the head is stored.
func (l *Ledger) storeKeys() error {
	if l.head.Seq-l.indexEnd <= maxTail {
		return nil
	}
	if err := l.statements.indexTail.Run(); err != nil {
		return fmt.Errorf("index the ledger: %w", err)
	}
	if err := l.statements.setIndex.Run(); err != nil {
		return fmt.Errorf("store how far the ledger is indexed: %w", err)
	}
	l.indexEnd = l.head.Seq
	return nil
}

// Key is one key of an entry.
type Key struct {
	Kind  KeyKind
	Value string
}

// Concerning are the keys of what somebody did or owns.
func Concerning[T ~string](who T) []Key {
	return []Key{{ByOwner, string(who)}, {ByActor, string(who)}}
}

// Through walks the entries from low to before high that have one of the keys.
func Through(low, high int64, keys ...Key) []db.Walk {
	var walks []db.Walk
	var either []string
	var values []any
	for _, key := range keys {
		walks = append(walks, db.Walk{
			From:  db.Say(`ledger_keys`),
			Where: []db.Part{db.Say(`kind = ? AND key = ? AND seq >= ? AND seq < ?`, key.Kind, key.Value, low, high)},
		})
		either = append(either, keyColumns[key.Kind]+` = ?`)
		values = append(values, key.Value)
	}
	return append(walks, db.Walk{From: db.Say(`ledger`), Where: []db.Part{
		db.Say(`seq >= max(?, `+firstOfTail+`) AND seq < ?`, low, high),
		db.Say(`(`+strings.Join(either, ` OR `)+`)`, values...),
	}})
}

// After selects the entries l that have a key, after a number; key and number are SQL. The
// two statements, of which each has a part, are for UNION ALL.
func After(row *db.Row, kind KeyKind, key, number string) []string {
	return []string{
		fmt.Sprintf(`SELECT %s FROM ledger_keys k CROSS JOIN ledger l ON l.seq = k.seq WHERE k.kind = %d AND k.key = %s AND k.seq > %s`,
			row.Columns("l", map[string]string{"seq": "k.seq"}), kind, key, number),
		fmt.Sprintf(`SELECT %s FROM ledger l WHERE l.seq >= max(%s + 1, `+firstOfTail+`) AND l.%s = %s`,
			row.Columns("l", nil), number, keyColumns[kind], key),
	}
}
