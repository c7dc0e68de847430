package store

import (
	"strings"
	"testing"
)

// Who acts for others costs what waits and who is away, however many absences, hand-overs and
// substitutes there ever were.
func TestWhoActsForOthersIsServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, q := range []struct{ query, want string }{
		{openAbsences, "USING INDEX absences_open"},
		{openOf, "SEARCH absences USING INDEX absences_open (user_id=?)"},
		{absenceByID, "absences"},
		{dueAbsences, "USING INDEX absences_open"},
		{absencesFor, "USING INDEX absences_open"},
		{absencesNow, "USING INDEX absences_open"},
		{beginAbsence, "SEARCH absences USING PRIMARY KEY (id=?)"},
		{endAbsence, "SEARCH absences USING PRIMARY KEY (id=?)"},
		{substituteOf, "SEARCH substitutes USING INDEX substitutes_in_use (user_id=? AND substitute_id=?)"},
		{substituteBy, "SEARCH substitutes USING PRIMARY KEY (id=?)"},
		{substitutesOf, "substitutes_in_use"},
		{acceptSubstitute, "SEARCH substitutes USING PRIMARY KEY (id=?)"},
		{removeSubstitute, "SEARCH substitutes USING PRIMARY KEY (id=?)"},
		{acceptedPairs, "substitutes_in_use"},
		{handedPending, "SCAN h USING INDEX handovers_response"},
		{handedPending, "SEARCH r USING"},
		{handOverOf, "SEARCH handovers USING INDEX handovers_response (response_id=? AND from_user=? AND to_user=?)"},
		{handOverBy, "SEARCH handovers USING PRIMARY KEY (id=?)"},
		{handOversOf, "SEARCH h USING INDEX handovers_response (response_id=?)"},
		{takeOverBack, "SEARCH handovers USING PRIMARY KEY (id=?)"},
		{handedOver, "SEARCH handovers USING INDEX handovers_response (response_id=?)"},
		{askedOf, "SEARCH reviewers USING"},
		{forOthersOf, "SEARCH reviewers USING INDEX reviewers_for_others (response_id=?)"},
		{markForOther, "SEARCH reviewers USING PRIMARY KEY (user_id=? AND response_id=?)"},
		{askedNow, "SEARCH reviewers USING PRIMARY KEY (user_id=? AND response_id=?)"},
		{relationOf, "SEARCH v USING PRIMARY KEY (user_id=? AND response_id=?)"},
		{relationOf, "SEARCH u USING"},
		{toReroute, "SEARCH v USING INDEX reviewers_for_others (response_id=?)"},
		{toReroute, "responses_pending"},
		{toReroute, "SEARCH d USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)"},
		{toReroute, "SEARCH h USING INDEX handovers_response (response_id=?)"},
		{nextEscalation, "USING INDEX escalations_due"},
		{dueEscalations, "USING INDEX escalations_due (due_at<?)"},
		{nextStepOf, "SEARCH escalations USING PRIMARY KEY (response_id=?)"},
		{dropEscalation, "SEARCH escalations USING PRIMARY KEY (response_id=?)"},
		{dropStep, "SEARCH escalations USING PRIMARY KEY (response_id=? AND step=?)"},
		{pauseEscalation, "SEARCH escalations USING PRIMARY KEY (response_id=?)"},
		{moveEscalation, "SEARCH escalations USING PRIMARY KEY (response_id=? AND step=?)"},
	} {
		query := strings.ReplaceAll(q.query, "IN ?", "IN (?)")
		plan := explain(t, s, query, blanks(query))
		if !strings.Contains(plan, q.want) {
			t.Errorf("%s\nis not served by %s:\n%s", query, q.want, plan)
		}
		for _, table := range []string{"SCAN r\n", "SCAN handovers\n", "SCAN substitutes\n", "SCAN absences\n", "SCAN reviewers\n", "SCAN responses\n", "SCAN v\n", "SCAN n\n", "SCAN d\n"} {
			if strings.Contains(plan+"\n", table) {
				t.Errorf("%s\nreads a whole table:\n%s", query, plan)
			}
		}
	}
}
