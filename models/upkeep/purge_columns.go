package upkeep

import "countersign/models/db"

// removedAs are the forms of a mark, as SQL over the mark ?1.
var removedAs = map[string]string{
	markText:    `?1`,
	markObject:  db.JSONObject(`'removed'`, `?1`),
	markList:    db.JSONArray(`?1`),
	markOptions: db.JSONArray(db.JSONObject(`'name'`, `?1`)),
	markTurn:    db.JSONObject(`'content'`, `?1`, `'read'`, db.JSONMember(`said`, `read`)),
}

// holdsContent is the condition under which a column's text is contents; a column
// that is not here is contents unless it is empty.
var holdsContent = map[string]string{
	// The texts of the other causes are ours or the policy's.
	"responses.approval_feedback": `cause NOT IN ('timeout', 'policy', 'no_reviewer', 'gone', 'run_ended')`,
	"turns.said":                  `(` + db.JSONMember(`said`, `content`) + ` IS NOT NULL OR ` + db.JSONMember(`said`, `calls`) + ` IS NOT NULL)`,
}

// contentColumns are the columns of a table whose text is removed, in a fixed order.
var contentColumns = func() map[string][]contentColumn {
	out := map[string][]contentColumn{}
	for table, of := range columns {
		for _, name := range sortedKeys(of) {
			if as, ok := removedAs[of[name].removal]; ok {
				out[table] = append(out[table], contentColumn{Name: name, mark: as, when: holdsContent[table+"."+name]})
			}
		}
	}
	return out
}()

// contentColumn is a column, its mark as SQL over ?1, and when it holds contents.
type contentColumn struct{ Name, mark, when string }

// holds is SQL over the mark ?1 that says whether there is something to remove.
func (c contentColumn) holds() string {
	text := `coalesce(` + c.Name + `, '') NOT IN ('', ` + c.mark + `)`
	if c.when != "" {
		text += ` AND ` + c.when
	}
	return text
}

// ContentColumns are the columns whose text is removed, by table.
func ContentColumns() map[string][]string {
	out := map[string][]string{}
	for table, columns := range contentColumns {
		for _, c := range columns {
			out[table] = append(out[table], c.Name)
		}
	}
	return out
}
