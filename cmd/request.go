package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/headline"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/views"
	"countersign/views/ui"
)

func newRequest() *cobra.Command {
	c := &cobra.Command{Use: "request", Short: "List what agents ask for", Args: cobra.NoArgs}
	c.AddCommand(newRequestList())
	return c
}

// listedRequest is a request as `request list --json` prints it.
type listedRequest struct {
	ID          models.ResponseID `json:"id"`
	Headline    string            `json:"headline"`
	Kind        models.Kind       `json:"kind"`
	Tool        string            `json:"tool"`
	Agent       string            `json:"agent"`
	Owner       string            `json:"owner"`
	Risk        models.Risk       `json:"risk"`
	Status      models.Status     `json:"status"` // empty: no approval was needed
	Cause       models.Cause      `json:"cause"`
	RequestedAt *time.Time        `json:"requestedAt"`
	Deadline    *time.Time        `json:"deadline"`
}

// requestFilter is what the flags choose.
type requestFilter struct {
	all    bool
	status string
	limit  int
}

func newRequestList() *cobra.Command {
	var f requestFilter
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [--all | --status STATUS]",
		Short: "List the requests that wait for a person, soonest deadline first",
		Long: "List the requests that wait for a person, soonest deadline first; with --all or --status\n" +
			"those that were decided too, newest first. It only reads: decide on the pages or by the API.",
		Args: cobra.NoArgs,
	}
	c.Flags().BoolVar(&f.all, "all", false, "requests of every status")
	c.Flags().StringVar(&f.status, "status", "", "requests of one status: "+statusNames())
	c.Flags().IntVar(&f.limit, "limit", 100, "how many to list at most")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		status, err := f.check()
		if err != nil {
			return err
		}
		first, list := "newest", newestRequests
		if status == models.StatusPending {
			first, list = "soonest", soonestRequests
		}
		found, more, err := list(c.Context(), s, status, f.limit)
		if err != nil {
			return err
		}
		if more {
			fmt.Fprintf(c.ErrOrStderr(), "countersign: only the %s %d are listed; --limit lists more\n", first, f.limit)
		}
		return terminal.PrintList(c.OutOrStdout(), asJSON, requestsForPrograms(found),
			[]string{"ID", "STATE", "RISK", "AGENT", "REQUEST"}, requestRows(found, s.Now()))
	})
}

func statusNames() string {
	names := make([]string, 0, len(models.Statuses()))
	for _, status := range models.Statuses() {
		names = append(names, string(status))
	}
	return strings.Join(names, ", ")
}

// check is the status that is listed; none for all.
func (f requestFilter) check() (models.Status, error) {
	status := models.Status(f.status)
	switch {
	case f.limit < 1:
		return "", errors.New("--limit: must be at least 1")
	case f.all && f.status != "":
		return "", errors.New("--status: can't be combined with --all")
	case f.all:
		return models.StatusNone, nil
	case f.status == "":
		return models.StatusPending, nil
	case !slices.Contains(models.Statuses(), status):
		return "", errors.New("--status: must be one of " + statusNames())
	}
	return status, nil
}

// newestRequests reads the newest requests of a status, and says whether there are more.
func newestRequests(
	ctx context.Context, s *store.Store, status models.Status, limit int,
) (out []models.Approval, more bool, err error) {
	q := requests.ListQuery{Status: status}
	for {
		q.Limit = min(limit-len(out), models.MaxPage)
		page, err := s.Requests.Approvals(ctx, data.Operator(), q)
		if err != nil {
			return nil, false, err
		}
		out = append(out, page.Items...)
		if page.Next == "" || len(out) >= limit {
			return out, page.Next != "", nil
		}
		q.Cursor = page.Next
	}
}

// soonestRequests reads all requests of a status, keeps those whose deadlines come soonest,
// and says whether there are more. It holds no more than these and a page.
func soonestRequests(
	ctx context.Context, s *store.Store, status models.Status, limit int,
) (out []models.Approval, more bool, err error) {
	q := requests.ListQuery{Status: status, Limit: models.MaxPage}
	for {
		page, err := s.Requests.Approvals(ctx, data.Operator(), q)
		if err != nil {
			return nil, false, err
		}
		out = append(out, page.Items...)
		slices.SortStableFunc(out, soonestFirst)
		if len(out) > limit {
			clear(out[limit:])
			out, more = out[:limit], true
		}
		if page.Next == "" {
			return out, more, nil
		}
		q.Cursor = page.Next
	}
}

// soonestFirst orders by deadline; a request without one comes last.
func soonestFirst(a, b models.Approval) int { return a.ApprovalTimeoutAt.Compare(b.ApprovalTimeoutAt) }

func requestsForPrograms(found []models.Approval) []listedRequest {
	list := make([]listedRequest, 0, len(found))
	for i := range found {
		a := &found[i]
		one := listedRequest{
			ID: a.ID, Headline: headline.Shown(&a.Response).Text(), Kind: a.Kind, Tool: a.ToolName, Agent: a.AgentName,
			Owner: a.OwnerName,
			Risk:  a.Risk, Status: a.Status(), Cause: a.Cause, RequestedAt: a.ApprovalRequestedAt,
		}
		if a.ApprovalTimeoutAt.Before(models.NoDeadline) && !a.ApprovalTimeoutAt.IsZero() {
			one.Deadline = &a.ApprovalTimeoutAt
		}
		list = append(list, one)
	}
	return list
}

func requestRows(found []models.Approval, now time.Time) [][]string {
	rows := make([][]string, 0, len(found))
	for i := range found {
		a := &found[i]
		rows = append(rows,
			[]string{
				string(a.ID), requestState(a, now), cmp.Or(string(a.Risk), "-"), a.AgentName, headline.Shown(&a.Response).Text(),
			})
	}
	return rows
}

// requestState says how long a request still waits, or how it ended.
func requestState(a *models.Approval, now time.Time) string {
	if a.Status() != models.StatusPending {
		word := ui.StatusWord(a.Status(), a.Cause).Text
		if why := a.Cause.Short(); why != "" {
			return word + ", " + why
		}
		return word
	}
	switch {
	case a.HeldUntil != nil:
		return "decided, not sent yet"
	case a.PausedLeft != nil:
		return "timer paused"
	}
	return cmp.Or(views.Remaining(a.ApprovalTimeoutAt, now, now).Text, "no deadline")
}
