package cmd

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models/store"
)

func newGroup() *cobra.Command {
	c := &cobra.Command{
		Use: "group", Short: "Add, list and change the groups that the policy may name", Args: cobra.NoArgs,
	}
	c.AddCommand(newGroupAdd(), newGroupList(), newGroupMembers(), newGroupJoin(), newGroupLeave(), newGroupRemove())
	return c
}

func newGroupAdd() *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "add NAME [--note TEXT]", Short: "Add a group, without members", Args: cobra.ExactArgs(1),
		Long: "Adds a group. Rules of the policy name it among their reviewers as group:NAME.",
	}
	c.Flags().StringVar(&note, "note", "", "what it is for")
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		if err := s.People.AddGroup(c.Context(), data.Operator(), args[0], note); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "added group %s\n", args[0])
		return nil
	})
}

// listedGroup is a group as `group list --json` prints it.
type listedGroup struct {
	Name    string `json:"name"`
	Note    string `json:"note"`
	Members int    `json:"members"`
}

func newGroupList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: "list", Short: "List groups", Args: cobra.NoArgs}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		groups, err := s.People.Groups(c.Context(), data.Operator())
		if err != nil {
			return err
		}
		list, rows := make([]listedGroup, 0, len(groups)), make([][]string, 0, len(groups))
		for i := range groups {
			g := &groups[i]
			list = append(list, listedGroup{g.Name, g.Note, g.Members})
			rows = append(rows, []string{g.Name, strconv.Itoa(g.Members), g.Note})
		}
		return terminal.PrintList(c.OutOrStdout(), asJSON, list, []string{"GROUP", "MEMBERS", "NOTE"}, rows)
	})
}

func newGroupMembers() *cobra.Command {
	c := &cobra.Command{Use: "members NAME", Short: "List who is in a group", Args: cobra.ExactArgs(1)}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		_, members, err := s.People.Group(c.Context(), data.Operator(), args[0])
		if err != nil {
			return err
		}
		rows := make([][]string, 0, len(members))
		for i := range members {
			rows = append(rows, []string{members[i].Email, members[i].Name, terminal.FormatTime(members[i].DisabledAt)})
		}
		return terminal.PrintTable(c.OutOrStdout(), []string{"EMAIL", "NAME", "DISABLED"}, rows)
	})
}

func newGroupJoin() *cobra.Command {
	c := &cobra.Command{
		Use: "join NAME EMAIL", Short: "Put a person into a group", Args: cobra.ExactArgs(2),
		Long: "Puts a person into a group. What waits for the group now is in their inbox at once.",
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		if err := s.People.JoinGroup(c.Context(), data.Operator(), args[0], args[1]); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s is in group %s\n", terminal.Plain(args[1]), args[0])
		return nil
	})
}

func newGroupLeave() *cobra.Command {
	c := &cobra.Command{
		Use: "leave NAME EMAIL", Short: "Take a person out of a group", Args: cobra.ExactArgs(2),
		Long: "Takes a person out of a group. What waits for the group leaves their inbox, unless they are asked for another reason; what nobody else may approve is rejected.",
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		user, err := s.People.UserByEmail(c.Context(), data.Operator(), args[1])
		if err != nil {
			return err
		}
		if err := s.People.LeaveGroup(c.Context(), data.Operator(), args[0], user.ID); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s is out of group %s\n", terminal.Plain(user.Email), args[0])
		return nil
	})
}

func newGroupRemove() *cobra.Command {
	c := &cobra.Command{
		Use: "remove NAME", Short: "Remove a group that the policy does not name", Args: cobra.ExactArgs(1),
		Long: "Removes a group and takes everybody out of it. What nobody else may approve is rejected. Refused while a rule of the policy names the group.",
	}
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		if err := s.People.RemoveGroup(c.Context(), data.Operator(), args[0]); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "removed group %s\n", args[0])
		return nil
	})
}
