package cmd

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/store"
)

func newStop() *cobra.Command {
	var agent, email, note string
	var all bool
	c := &cobra.Command{
		Use:   "stop --agent NAME --user EMAIL | --all",
		Short: "Stop one agent, or all: what they ask is rejected, and what waits is cancelled",
		Long: "Stop one agent, or all. What a stopped agent asks is rejected, whatever the policy says, and what waits of it is\n" +
			"cancelled at once, also while a server runs. It goes on when the stop is lifted.",
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&agent, "agent", "", "the agent's registered name")
	c.Flags().StringVar(&email, "user", "", "whose agent it is, by e-mail")
	c.Flags().BoolVar(&all, "all", false, "all agents")
	c.Flags().StringVar(&note, "note", "", "why, for those who find their agents stopped")
	stop := data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		id := models.AgentID("")
		if all == (agent != "") {
			return errors.New("name an agent with --agent and --user, or say --all")
		}
		if !all {
			var err error
			if id, err = agentNamed(c, s, agent, email); err != nil {
				return err
			}
		}
		stop, n, err := s.Stop(c.Context(), data.Operator(), id, note)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(),
			"stopped %s, %d requests cancelled%s; lift it with: countersign stop lift %s --note WHY\n",
			terminal.Plain(stoppedWho(stop)), n, onTheirWay(stop), stop.ID)
		return nil
	})
	stop.AddCommand(newStopList(), newStopLift())
	return stop
}

// agentNamed finds an agent by its name, and its owner's e-mail.
func agentNamed(c *cobra.Command, s *store.Store, name, email string) (models.AgentID, error) {
	if email == "" {
		return "", errors.New("--user: must name the agent's owner by e-mail")
	}
	owner, err := s.People.UserByEmail(c.Context(), data.Operator(), email)
	if err != nil {
		return "", err
	}
	agents, err := s.People.Agents(c.Context(), data.Operator())
	if err != nil {
		return "", err
	}
	for i := range agents {
		if agents[i].OwnerID == owner.ID && agents[i].Name == name {
			return agents[i].ID, nil
		}
	}
	return "", fmt.Errorf("--agent: %s has no agent of that name", terminal.Plain(owner.Email))
}

// onTheirWay says what became of approvals that were held for another system.
func onTheirWay(s *models.Stop) string {
	text := ""
	if s.Withdrawn > 0 {
		text += fmt.Sprintf(", %d approvals cancelled before another system received them", s.Withdrawn)
	}
	if s.InFlight > 0 {
		text += fmt.Sprintf(", %d approvals were being sent at this moment and may take effect", s.InFlight)
	}
	return text
}

func stoppedWho(s *models.Stop) string { return cmp.Or(s.AgentName, "all agents") }

func newStopList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List what is stopped", Args: cobra.NoArgs}
	return data.Command(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		stops, err := s.Stops(c.Context(), data.Operator())
		if err != nil {
			return err
		}
		rows := make([][]string, 0, len(stops))
		for i := range stops {
			rows = append(rows,
				[]string{
					string(stops[i].ID), stoppedWho(&stops[i]), terminal.FormatTime(&stops[i].At), stops[i].ByName, stops[i].Note,
				})
		}
		return terminal.PrintTable(c.OutOrStdout(), []string{"ID", "AGENT", "STOPPED", "BY", "NOTE"}, rows)
	})
}

func newStopLift() *cobra.Command {
	var note string
	c := &cobra.Command{Use: "lift ID", Short: "Lift a stop, so that its agents can ask again", Args: cobra.ExactArgs(1)}
	c.Flags().StringVar(&note, "note", "", "why the stop is lifted")
	return data.Command(c, func(c *cobra.Command, args []string, s *store.Store) error {
		if err := s.Lift(c.Context(), data.Operator(), models.StopID(args[0]), note); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), "lifted")
		return nil
	})
}
