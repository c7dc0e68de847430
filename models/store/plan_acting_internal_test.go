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
		{forOthersOf, "SEARCH v USING INDEX reviewers_for_others (response_id=?)"},
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

// What waits for a group is found by index, however much was settled and whatever waits for
// nobody in particular.
func TestWhatWaitsForAGroupIsFoundByIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	plan := explain(t, s, waitForGroup, blanks(waitForGroup))
	for _, want := range []string{"SCAN responses USING COVERING INDEX responses_pending_groups", "SCAN r USING COVERING INDEX responses_pending", "SEARCH v USING INDEX votes_waiting (response_id=?)"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %s in\n%s", want, plan)
		}
	}
}

// What people may do with a list of requests is read by keys and by the index of what is had for
// others, and never by looking through a table.
func TestRightsAreReadByIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for text, index := range map[string]string{
		handedOverEach: "SEARCH h USING INDEX handovers_response (response_id=?)",
		relationsOf:    "SEARCH u USING PRIMARY KEY (id=?)",
		forOthersEach:  "SEARCH v USING INDEX reviewers_for_others (response_id=?)",
		standingEach:   "SEARCH v USING INDEX votes_waiting (response_id=?)",
		replacedOf:     "SEARCH v USING INDEX votes_response (response_id=?)",
		seatsOf:        "SEARCH u USING PRIMARY KEY (id=?)",
	} {
		text = strings.ReplaceAll(text, "IN ?", "IN (?)")
		plan := explain(t, s, text, blanks(text))
		if !strings.Contains(plan, index) {
			t.Errorf("no %s in\n%s", index, plan)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			if strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN j ") {
				t.Errorf("%s\n%s", line, plan)
			}
		}
	}
}

// What a stop withdraws is found by index, however many requests were settled.
func TestWhatAStopWithdrawsIsFoundByIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for query, want := range map[string]string{stoppedOfAgent: "responses_pending_agent (agent_id=?)", stoppedOfAll: "responses_pending", standingStops: "stops_standing", heldOutside: "deliveries_due"} {
		if plan := explain(t, s, query, blanks(query)); !strings.Contains(plan, want) {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}

// What is written for a request costs what is written for it, however much waits.
func TestNoticesOfARequestAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, q := range []struct{ query, want string }{
		{moveNotice, "SEARCH notices USING PRIMARY KEY (response_id=?"},
		{hurryNotices, "SEARCH notices USING PRIMARY KEY (response_id=?"},
		{dropNotices, "SEARCH notices USING PRIMARY KEY (response_id=?"},
		{forgetToTell, "SEARCH notices USING PRIMARY KEY (response_id=? AND recipient=?"},
		{leftUntold, "SEARCH notified USING PRIMARY KEY (response_id=?"},
		{waitsNoMore, "SEARCH notified USING PRIMARY KEY (response_id=?"},
		{followUps, "SEARCH n USING PRIMARY KEY (response_id=?"},
		{dropUnsent, "SEARCH notice_sends USING INDEX notice_sends_response (response_id=?"},
		{namesOfDeciders + decidersOf, "SEARCH deciders USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)"},
	} {
		query := strings.ReplaceAll(q.query, "IN ?", "IN (?)")
		if plan := explain(t, s, query, blanks(query)); !strings.Contains(plan, q.want) || strings.Contains(plan, "SCAN n") {
			t.Errorf("%s\nis not served by %s:\n%s", query, q.want, plan)
		}
	}
}
