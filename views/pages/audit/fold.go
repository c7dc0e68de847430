package audit

import (
	"countersign/models"
	"countersign/views"
)

// foldStops makes one line of a stop and the requests that it cancelled: the entries right after that of the stop, by
// the same actor and with its cause. Where the stop's own entry is on another page, they are one line of their own.
func foldStops(rows []Row, agents []models.Agent) []Row {
	var out []Row
	for i := 0; i < len(rows); {
		end := i
		for end < len(rows) && rows[end].byStop && rows[end].who == rows[i].who {
			end++
		}
		head := rows[i]
		switch {
		case end < len(rows) && rows[end].isStop && (end == i || rows[end].who == rows[i].who):
			head = rows[end]
			head.stopLine(rows[i:end], agents)
			end++
		case end-i > 1:
			head = rows[i].copyOfActor()
			head.Act, head.Group = "cancelled "+requestCount(end-i)+" by stopping agents", rows[i:end]
			if head.System {
				head.Act = "Cancelled " + requestCount(end-i) + " of stopped agents"
			}
		default:
			end = i + 1
		}
		out = append(out, head)
		i = end
	}
	return out
}

// stopLine has the line of a stop name the agent and count what it cancelled.
func (row *Row) stopLine(cancelled []Row, agents []models.Agent) {
	row.Group = cancelled
	if len(cancelled) > 0 {
		row.Rest = "– " + requestCount(len(cancelled)) + " cancelled"
	}
	if row.stopOf == "" {
		return
	}
	for i := range agents {
		if agents[i].ID == row.stopOf {
			row.Target = agents[i].Name
		}
	}
	if len(cancelled) > 0 && cancelled[0].Agent != "" {
		row.Target = cancelled[0].Agent
	}
	if row.Target != "" {
		row.Act = "stopped agent"
	}
}

// copyOfActor is a line of the same time and actor that says nothing yet.
func (row Row) copyOfActor() Row {
	return Row{
		Seq: row.Seq, At: row.At, Kind: row.Kind, Actor: row.Actor, Person: row.Person, System: row.System, Named: row.Named,
		EntryURL: row.EntryURL, WhoURL: row.WhoURL,
	}
}

func requestCount(n int) string {
	if n == 1 {
		return "1 request"
	}
	return views.Number(int64(n)) + " requests"
}
