package db

import "testing"

func TestWhatAStatementChanges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Change{
		"INSERT INTO responses (id) VALUES (?)":                                       {Table: "responses", New: true},
		"INSERT INTO `responses` (`id`) VALUES (?)":                                   {Table: "responses", New: true},
		`INSERT INTO "responses" ("id") VALUES (?)`:                                   {Table: "responses", New: true},
		InsertNew + "deciders (user_id) VALUES (?)":                                   {Table: "deciders", New: true},
		"INSERT INTO agent_energy (agent_id, energy) VALUES (?, ?)" + OrAdd("energy"): {Table: "agent_energy"},
		"UPDATE responses SET cause = ?":                                              {Table: "responses"},
		"UPDATE `users` SET `name`=?":                                                 {Table: "users"},
		"UPDATE OR IGNORE users SET name = ?":                                         {Table: "users"},
		"DELETE FROM deciders WHERE response_id = ?":                                  {Table: "deciders"},
		"INSERT OR REPLACE INTO users (id) VALUES (?)":                                {},
		"REPLACE INTO users (id) VALUES (?)":                                          {},
		"WITH x AS (SELECT 1) UPDATE users SET name = ?":                              {},
		"PRAGMA optimize":                                                             {},
		" UPDATE users SET name = ?":                                                  {},
	} {
		if got := changeOf(text); got != want {
			t.Errorf("%s changes %+v, want %+v", text, got, want)
		}
	}
}
