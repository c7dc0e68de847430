package cmd

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/outside"
	"countersign/models/store"
	"countersign/workers/upstream"
)

const upstreamKeyHelp = "The key is read from " + config.UpstreamKeyEnv +
	", or else from the first line of standard\n" +
	"input; it is never an argument, which others could see, and is never shown again."

func newUpstream() *cobra.Command {
	c := &cobra.Command{
		Use:   "upstream",
		Short: "Add, list and change the other systems whose approvals are decided here",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(newUpstreamAdd(), newUpstreamList(), newUpstreamSetKey(), newUpstreamSwitch(true),
		newUpstreamSwitch(false), newUpstreamResume())
	return c
}

func newUpstreamAdd() *cobra.Command {
	var in outside.NewUpstream
	var owner string
	var noKey bool
	c := &cobra.Command{
		Use:   "add NAME --url URL --dialect plain|cloud --owner EMAIL",
		Short: "Add an upstream: a running server polls it from now on",
		Long: "Add an upstream: a running server polls it from now on. What it asks for is its\n" +
			"owner's to decide, and is matched to the owner's runs.\n\n" + upstreamKeyHelp,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&in.BaseURL, "url", "", "where its API is, such as https://approvals.example.com/v1")
	c.Flags().StringVar(&in.Dialect, "dialect", "plain", "plain, or cloud for the API with pages and /agent/ paths")
	c.Flags().StringVar(&owner, "owner", "", "its owner, by e-mail")
	c.Flags().BoolVar(&noKey, "no-key", false, "it needs no key")
	config.Add(c.Flags(), config.UpstreamAllow)
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		if owner == "" {
			return errors.New("--owner: must name a person by e-mail")
		}
		u, err := s.People.UserByEmail(c.Context(), data.Operator(), owner)
		if err != nil {
			return err
		}
		if !noKey {
			if in.Key, err = readUpstreamKey(c); err != nil {
				return err
			}
		}
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		if err := inFlags(config.UpstreamCheck(cfg.Upstreams.Allow)(c.Context(), in.BaseURL, in.Dialect,
			in.Key)); err != nil {
			return err
		}
		in.Name, in.OwnerID = args[0], u.ID
		upstream, err := outside.New(s).AddUpstream(c.Context(), data.Operator(), in)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "added %s\n", terminal.Plain(upstream.Name))
		return nil
	})
}

// inFlags is an error about an upstream, with the names of the flags.
func inFlags(err error) error {
	e, ok := errors.AsType[*models.Error](err)
	if !ok {
		return err
	}
	var wrong []error
	for field, name := range map[string]string{"baseUrl": "--url", "dialect": "--dialect", "key": "the key"} {
		if text := e.Fields[field]; text != "" {
			wrong = append(wrong, errors.New(name+": "+text))
		}
	}
	if len(wrong) == 0 {
		return err
	}
	return errors.Join(wrong...)
}

// listedUpstream is an upstream as `upstream list --json` prints it.
type listedUpstream struct {
	ID          models.UpstreamID `json:"id"`
	Name        string            `json:"name"`
	URL         string            `json:"url"`
	Dialect     string            `json:"dialect"`
	Owner       string            `json:"owner"`
	CreatedAt   time.Time         `json:"createdAt"`
	DisabledAt  *time.Time        `json:"disabledAt"`
	PausedAt    *time.Time        `json:"pausedAt"`
	PolledAt    *time.Time        `json:"polledAt"`
	SucceededAt *time.Time        `json:"succeededAt"`
	Failures    int               `json:"failures"`
	Problem     string            `json:"problem"`
	Waiting     int               `json:"waiting"`
	Untold      int               `json:"untold"`
}

func newUpstreamList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List upstreams and how their polls go, without their keys", Args: cobra.NoArgs,
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		states, err := outside.New(s).UpstreamStates(c.Context(), data.Operator())
		if err != nil {
			return err
		}
		users, err := s.People.Users(c.Context(), data.Operator())
		if err != nil {
			return err
		}
		emails := make(map[models.UserID]string, len(users))
		for _, u := range users {
			emails[u.ID] = u.Email
		}
		list, rows := make([]listedUpstream, 0, len(states)), make([][]string, 0, len(states))
		for i := range states {
			u := &states[i]
			list = append(list, listedUpstream{
				u.ID, u.Name, u.BaseURL, u.Dialect, emails[u.OwnerID], u.CreatedAt, u.DisabledAt, u.PausedAt, u.PolledAt,
				u.SucceededAt, u.Failures, u.Problem, u.Waiting, u.Unsent,
			})
			rows = append(rows, []string{
				u.Name, u.BaseURL, u.Dialect, emails[u.OwnerID], fmt.Sprint(u.Waiting), fmt.Sprint(u.Unsent),
				terminal.FormatTime(u.SucceededAt), pollState(u),
			})
		}
		return terminal.PrintList(c.OutOrStdout(), asJSON, list,
			[]string{"NAME", "URL", "DIALECT", "OWNER", "WAITING", "NOT YET SENT", "LAST SUCCESS", "STATE"}, rows)
	})
}

// pollState is how an upstream does, in a few words.
func pollState(u *models.UpstreamState) string {
	switch {
	case u.DisabledAt != nil:
		return "disabled " + terminal.FormatTime(u.DisabledAt)
	case u.PausedAt != nil:
		return fmt.Sprintf("paused %s: %s", terminal.FormatTime(u.PausedAt), u.Problem)
	case u.Failures > 0:
		return fmt.Sprintf("failed (%d in a row): %s", u.Failures, u.Problem)
	case u.PolledAt == nil:
		return "not polled yet"
	case u.Problem != "":
		return u.Problem
	}
	return "polled"
}

func newUpstreamSetKey() *cobra.Command {
	c := &cobra.Command{
		Use:   "set-key NAME",
		Short: "Give an upstream another key",
		Long:  "Give an upstream another key, which is tried at once.\n\n" + upstreamKeyHelp,
		Args:  cobra.ExactArgs(1),
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		u, err := upstreamNamed(c, s, args[0])
		if err != nil {
			return err
		}
		key, err := readUpstreamKey(c)
		if err != nil {
			return err
		}
		// The address stays, so only the key is checked.
		if err := inFlags(config.CheckUpstream("https://192.0.2.1", u.Dialect, key, upstream.Reach{})); err != nil {
			return err
		}
		if err := outside.New(s).SetUpstreamKey(c.Context(), data.Operator(), u.ID, key); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "set the key of %s\n", terminal.Plain(u.Name))
		return nil
	})
}

func newUpstreamSwitch(enabled bool) *cobra.Command {
	c := &cobra.Command{
		Use:   "enable NAME",
		Short: "Have a disabled upstream polled again",
		Args:  cobra.ExactArgs(1),
	}
	done := "enabled"
	if !enabled {
		c.Use, c.Short, done = "disable NAME", "Stop polling an upstream; its pending requests can still be decided", "disabled"
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		u, err := upstreamNamed(c, s, args[0])
		if err != nil {
			return err
		}
		if err := outside.New(s).EnableUpstream(c.Context(), data.Operator(), u.ID, enabled); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s %s\n", done, terminal.Plain(u.Name))
		return nil
	})
}

func newUpstreamResume() *cobra.Command {
	c := &cobra.Command{
		Use:   "resume NAME",
		Short: "Try an upstream again that is paused because it refused the key",
		Args:  cobra.ExactArgs(1),
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		u, err := upstreamNamed(c, s, args[0])
		if err != nil {
			return err
		}
		if err := outside.New(s).ResumeUpstream(c.Context(), data.Operator(), u.ID); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "resumed %s\n", terminal.Plain(u.Name))
		return nil
	})
}

func upstreamNamed(c *cobra.Command, s *store.Store, name string) (*models.Upstream, error) {
	all, err := outside.New(s).Upstreams(c.Context(), data.Operator())
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, models.Errorf(models.CodeNotFound,
		"There is no upstream with this name; `countersign upstream list` shows them.")
}

// readUpstreamKey takes the key from the environment or, where it has none, from
// standard input.
func readUpstreamKey(c *cobra.Command) (string, error) {
	key := os.Getenv(config.UpstreamKeyEnv)
	if key == "" {
		var err error
		if key, err = terminal.ReadSecret(c, "Key: "); err != nil {
			return "", err
		}
	}
	if key = strings.TrimSpace(key); key == "" {
		return "", fmt.Errorf("the key must not be empty: give it on the first line of standard input or in %s",
			config.UpstreamKeyEnv)
	}
	return key, nil
}
