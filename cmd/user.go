package cmd

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
)

func newUser() *cobra.Command {
	c := &cobra.Command{Use: "user", Short: "Add, list and disable people", Args: cobra.NoArgs}
	c.AddCommand(newUserAdd(), newUserList(), newUserRole(), newUserDisable(), newUserPassword(), newUserUnlock())
	return c
}

func newUserAdd() *cobra.Command {
	var name, role string
	var stdin bool
	c := &cobra.Command{
		Use:   "add EMAIL --name NAME [--role reviewer|admin|policy_editor|auditor] [--password-stdin]",
		Short: "Add a person",
		Args:  cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&name, "name", "", "the name that others see")
	c.Flags().StringVar(&role, "role", string(models.RoleReviewer), "reviewer, admin, policy_editor or auditor")
	c.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from the first line of standard input")
	return data.First(c, func(c *cobra.Command, args []string, s *store.Store) error {
		password, err := readPassword(c, stdin)
		if err != nil {
			return err
		}
		u, err := s.People.AddUser(c.Context(), data.Operator(),
			people.NewUser{Email: args[0], Name: name, Role: models.Role(role), Password: password})
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "added %s %s\n", u.Role, terminal.Plain(u.Email))
		return nil
	})
}

// listedUser is a person as `user list --json` prints it.
type listedUser struct {
	ID         models.UserID `json:"id"`
	Email      string        `json:"email"`
	Name       string        `json:"name"`
	Role       models.Role   `json:"role"`
	CreatedAt  time.Time     `json:"createdAt"`
	DisabledAt *time.Time    `json:"disabledAt"`
}

func newUserList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "list", Short: "List people", Args: cobra.NoArgs}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		users, err := s.People.Users(c.Context(), data.Operator())
		if err != nil {
			return err
		}
		list, rows := make([]listedUser, 0, len(users)), make([][]string, 0, len(users))
		for _, u := range users {
			list = append(list, listedUser{u.ID, u.Email, u.Name, u.Role, u.CreatedAt, u.DisabledAt})
			rows = append(rows,
				[]string{u.Email, u.Name, string(u.Role), terminal.FormatTime(&u.CreatedAt), terminal.FormatTime(u.DisabledAt)})
		}
		return terminal.PrintList(c.OutOrStdout(), asJSON, list, []string{"EMAIL", "NAME", "ROLE", "ADDED", "DISABLED"}, rows)
	})
}

func newUserRole() *cobra.Command {
	c := &cobra.Command{
		Use:   "role EMAIL ROLE",
		Short: "Make a person a reviewer, admin, policy_editor or auditor",
		Long: "Change what a person may do, from their next request on.\n\n" +
			"reviewer       decides requests that are theirs or routed to them\n" +
			"admin          decides any request, and manages the policy and people\n" +
			"policy_editor  a reviewer who also drafts the policy, tries and replays it; an admin saves it\n" +
			"auditor        sees everything and changes nothing",
		Args: cobra.ExactArgs(2),
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		u, err := s.People.UserByEmail(c.Context(), data.Operator(), args[0])
		if err != nil {
			return err
		}
		role := models.Role(args[1])
		if err := s.People.SetRole(c.Context(), data.Operator(), u.ID, role); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s is %s now\n", terminal.Plain(u.Email), role)
		return nil
	})
}

func newUserDisable() *cobra.Command {
	c := &cobra.Command{
		Use:   "disable EMAIL",
		Short: "End a person's access: sessions are closed, reviewer and admin tokens refused",
		Args:  cobra.ExactArgs(1),
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		u, err := s.People.UserByEmail(c.Context(), data.Operator(), args[0])
		if err != nil {
			return err
		}
		tokens, err := s.People.DisableUser(c.Context(), data.Operator(), u.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "disabled %s\n", terminal.Plain(u.Email))
		if tokens > 0 {
			fmt.Fprintf(c.ErrOrStderr(),
				"%d agent tokens of this person still work, and other reviewers decide what they ask; `countersign token list` names them\n", tokens)
		}
		return nil
	})
}

func newUserPassword() *cobra.Command {
	var stdin bool
	c := &cobra.Command{
		Use:   "password EMAIL [--password-stdin]",
		Short: "Set a person's password, which ends all sessions of that person",
		Args:  cobra.ExactArgs(1),
	}
	c.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from the first line of standard input")
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		u, err := s.People.UserByEmail(c.Context(), data.Operator(), args[0])
		if err != nil {
			return err
		}
		password, err := readPassword(c, stdin)
		if err != nil {
			return err
		}
		if err := s.People.SetPassword(c.Context(), data.Operator(), u.ID, password); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "set the password of %s\n", terminal.Plain(u.Email))
		return nil
	})
}

func newUserUnlock() *cobra.Command {
	c := &cobra.Command{
		Use:   "unlock EMAIL",
		Short: "Forget wrong passwords, so that a person can sign in at once",
		Args:  cobra.ExactArgs(1),
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		u, err := s.People.UserByEmail(c.Context(), data.Operator(), args[0])
		if err != nil {
			return err
		}
		if err := s.People.UnlockUser(c.Context(), data.Operator(), u.ID); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "unlocked %s\n", terminal.Plain(u.Email))
		return nil
	})
}

// readPassword takes the first line of standard input, or asks for it where
// standard input is a terminal. It is never an argument, which others could see.
func readPassword(c *cobra.Command, stdin bool) (string, error) {
	if !stdin && !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", errors.New("standard input is not a terminal: give the password with --password-stdin")
	}
	if !stdin {
		return terminal.AskSecret(c, "Password: ")
	}
	return terminal.FirstLine(c)
}
