package store

import (
	"strings"
	"testing"
	"time"

	"countersign/models/requests"
)

// What holds a verdict, moves a deadline or keeps a note is found by its key,
// however many requests wait.
func TestWhatPeopleDoBesideDecidingIsServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	now := time.Unix(0, 0)
	for query, want := range map[string]string{
		nextRelease: "responses_held", releasable: "responses_held (held_until>? AND held_until<?)", unhold: "(id=?)", keepUndo: "(id=?)",
		latestVote: "votes_response", requests.StandingVote: "votes_response", withdrawnVotes: "votes_response", saidWith: "(conversation_id=? AND sequence>?)",
		setClock: "(id=?)", movesDeciders: "deciders USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)", listDeciders: "deciders USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)", settleReviewers: "reviewers_response",
		notesOf: "notes_response", lastNote: "notes_response", requests.OpenedPartsQuery: "(user_id=? AND response_id=?)",
	} {
		args := blanks(query)
		if query == releasable {
			args = []any{now, 9}
		}
		plan := explain(t, s, query, args)
		if !strings.Contains(plan, want) {
			t.Errorf("%s\nis not served by %s:\n%s", query, want, plan)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			scan := strings.HasPrefix(line, "SCAN ") && !strings.Contains(line, "responses_held") && !strings.HasPrefix(line, "SCAN (") && line != "SCAN CONSTANT ROW"
			sorts := strings.Contains(line, "B-TREE") && query != latestVote && query != requests.StandingVote // two or three votes
			if scan || sorts {
				t.Errorf("%s\n%s", query, plan)
			}
		}
	}
}
