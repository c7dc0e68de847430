package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
)

func newToken() *cobra.Command {
	c := &cobra.Command{Use: "token", Short: "Create, list and revoke bearer tokens", Args: cobra.NoArgs}
	c.AddCommand(newTokenAdd(), newTokenList(), newTokenRevoke())
	return c
}

func newTokenAdd() *cobra.Command {
	var email, scope, expires string
	c := &cobra.Command{
		Use:   "add AGENT_OR_NAME --user EMAIL --scope agent|reviewer|admin [--expires 90d]",
		Short: "Create a token and print it, once and nothing else",
		Long: "Create a token and print it, once and nothing else.\n\n" +
			"With --scope agent the name is an agent's: it is registered if it is new, and its\n" +
			"older tokens stop working. Otherwise the name says what the token is for.",
		Args: cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&email, "user", "", "whose token or agent it is, by e-mail")
	c.Flags().StringVar(&scope, "scope", string(models.ScopeAgent), "agent, reviewer or admin")
	c.Flags().StringVar(&expires, "expires", "", "how long it works, such as 90d or 12h (default: without end)")
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		life, err := terminal.ParseLife(expires)
		if err != nil {
			return fmt.Errorf("--expires: %w", err)
		}
		if email == "" {
			return errors.New("--user: must name a person by e-mail")
		}
		u, err := s.People.UserByEmail(c.Context(), data.Operator(), email)
		if err != nil {
			return err
		}
		in := people.NewToken{Scope: models.Scope(scope), UserID: u.ID, Expires: life}
		if in.Scope == models.ScopeAgent {
			in.Agent = args[0]
		} else {
			in.Name = args[0]
		}
		secret, _, err := s.People.AddToken(c.Context(), data.Operator(), in)
		if err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), secret)
		return nil
	})
}

// listedToken is a token as `token list --json` prints it.
type listedToken struct {
	ID         models.TokenID `json:"id"`
	Hint       string         `json:"hint"`
	Scope      models.Scope   `json:"scope"`
	Name       string         `json:"name"`
	User       string         `json:"user"`
	CreatedAt  time.Time      `json:"createdAt"`
	ExpiresAt  *time.Time     `json:"expiresAt"`
	LastUsedAt *time.Time     `json:"lastUsedAt"`
	RevokedAt  *time.Time     `json:"revokedAt"`
}

func newTokenList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "list", Short: "List tokens, without their secrets", Args: cobra.NoArgs}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		users, err := s.People.Users(c.Context(), data.Operator())
		if err != nil {
			return err
		}
		emails := make(map[models.UserID]string, len(users))
		for _, u := range users {
			emails[u.ID] = u.Email
		}
		tokens, err := s.People.Tokens(c.Context(), data.Operator(), true)
		if err != nil {
			return err
		}
		list, rows := make([]listedToken, 0, len(tokens)), make([][]string, 0, len(tokens))
		for _, t := range tokens {
			list = append(list,
				listedToken{t.ID, t.Hint, t.Scope, t.Name, emails[t.UserID], t.CreatedAt, t.ExpiresAt, t.LastUsedAt, t.RevokedAt})
			rows = append(rows, []string{
				string(t.ID), t.Hint + "…", string(t.Scope), t.Name, emails[t.UserID],
				tokenState(t, s.Now()), terminal.FormatTime(t.LastUsedAt),
			})
		}
		return terminal.PrintList(c.OutOrStdout(), asJSON, list,
			[]string{"ID", "TOKEN", "SCOPE", "NAME", "USER", "STATE", "LAST USED"}, rows)
	})
}

func tokenState(t models.Token, now time.Time) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked " + terminal.FormatTime(t.RevokedAt)
	case !t.Live(now):
		return "expired " + terminal.FormatTime(t.ExpiresAt)
	case t.ExpiresAt != nil:
		return "until " + terminal.FormatTime(t.ExpiresAt)
	}
	return "live"
}

func newTokenRevoke() *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke ID",
		Short: "End a token and the waits that use it; a running server refuses it within a second",
		Args:  cobra.ExactArgs(1),
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		id, err := models.ParseID[models.TokenID]("ID", args[0])
		if err != nil {
			return err
		}
		if err := s.People.RevokeToken(c.Context(), data.Operator(), id); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "revoked %s; running servers refuse it within a second\n", id)
		return nil
	})
}
